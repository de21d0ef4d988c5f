#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

using loops::Function;
using loops::Kernel;

namespace {

// Functions that the prelude has no table for, since they are about loops and not about vectors.
constexpr const char* smaller_text = "static inline long smaller(long a, long b) { return b < a ? b : a; }\n";
constexpr const char* larger_text = "static inline long larger(long a, long b) { return b > a ? b : a; }\n";

constexpr const char* table_text = R"(// Cosines [positions, 2 * pairs], then sines with the sign of their place: entry p, i turns pair i
// by the angle of position p. turns[i] holds the cosine and sine of one position, start[i] of the
// first; in double, each entry rounded once.
static void fill_angles(float* to, long positions, long pairs, const double (*turns)[2],
    const double (*start)[2], bool neighbours) {
  float* sines = to + 2 * positions * pairs;
  for (long i = 0; i < pairs; ++i) {
    const long a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + pairs;
    double c = start[i][0], s = start[i][1];
    for (long p = 0; p < positions; ++p) {
      const long row = 2 * pairs * p;
      to[row + a] = to[row + b] = (float)c;
      sines[row + a] = -(float)s;
      sines[row + b] = (float)s;
      const double next = c * turns[i][0] - s * turns[i][1];
      s = s * turns[i][0] + c * turns[i][1];
      c = next;
    }
  }
}
)";

std::string pairs_text(const char* name, const std::vector<std::pair<double, double>>& values) {
  std::string list;
  for (const auto& [c, s] : values) list += fmt::format("{}{{{:a}, {:a}}}", list.empty() ? "" : ", ", c, s);
  return wrapped(fmt::format("static const double {}[][2] = {{{}}};", name, list), 2) + "\n";
}

std::string pack_text(const Signature& s, const Kernel& k) {
  std::string r = fmt::format("void pack_weights(const {}_weights* w, float* packed) {{\n", s.name);
  const std::string body = text(k.pack, 2);
  if (body.find("w->") == std::string::npos) r += "  (void)w;\n";
  r += body;
  for (std::size_t i = 0; i < k.program->buffers.size(); ++i) {
    const Buffer& b = k.program->buffers[i];
    if (b.kind != Buffer::Kind::table) continue;
    r += pairs_text((b.name + "_turns").c_str(), b.turns) + pairs_text((b.name + "_start").c_str(), b.start);
    r += wrapped(fmt::format("fill_angles(packed + {}, {}, {}, {}_turns, {}_start, {});", k.schedule->buffer_offset[i], b.positions, b.width / 2, b.name, b.name, b.neighbours), 2) + "\n";
  }
  return r + "}\n\n";
}

std::string memory_text(const Kernel& k) {
  std::string r = "// Where everything lies.\nstruct Memory {\n";
  for (const Buffer& b : k.program->buffers) r += fmt::format("  {}float* {};\n", b.kind == Buffer::Kind::output || b.kind == Buffer::Kind::scratch ? "" : "const ", b.name);
  return r + "  const float* packed;\n  float* local;  // of worker 0; the others' follow\n};\n\n";
}

std::string run_text(const Signature& s, const Kernel& k) {
  std::string r = fmt::format(R"(void run(const {0}_args* args, const void* packed, void* workspace, int workers,
    {0}_parallel_for parallel_for, void* ctx) {{
  const auto each = [&](Memory* m, long items, void (*body)(void*, long, int)) {{
    if (parallel_for && workers > 1) return parallel_for(ctx, items, body, m);
    for (long item = 0; item < items; ++item) body(m, item, 0);
  }};
  Memory m;
  m.packed = static_cast<const float*>(packed);
  float* scratch = static_cast<float*>(workspace);
)",
                              s.name);
  for (std::size_t i = 0; i < k.program->buffers.size(); ++i) {
    const Buffer& b = k.program->buffers[i];
    const long at = k.schedule->buffer_offset[i];
    switch (b.kind) {
      case Buffer::Kind::input:
      case Buffer::Kind::output: r += fmt::format("  m.{0} = args->{0};\n", b.name); break;
      case Buffer::Kind::scratch: r += fmt::format("  m.{} = scratch + {};\n", b.name, at); break;
      case Buffer::Kind::weight:
      case Buffer::Kind::table: r += fmt::format("  m.{} = m.packed + {};\n", b.name, at); break;
    }
  }
  r += k.schedule->workspace_floats ? fmt::format("  m.local = scratch + {};\n", k.schedule->workspace_floats) : "  m.local = scratch;\n";
  for (const loops::Work& w : k.work)
    if (w.items > 0) r += fmt::format("  each(&m, {}, {}_body);\n", w.items, w.item);
  return r + "}\n";
}

}  // namespace

std::string kernel(const Signature& s, const Isa& isa, const Kernel& k, const std::vector<std::string>& notes) {
  std::vector<std::string> calls{"set_float_state", "restore_float_state"};
  for (const Function& f : k.functions) loops::collect_calls(f.body, calls);
  loops::collect_calls(k.pack, calls);
  std::set<std::string> ops;
  for (const std::string& c : calls)
    if (std::any_of(isa.ops.begin(), isa.ops.end(), [&](const OpText& o) { return o.name == c; })) ops.insert(c);
  const auto called = [&](const char* n) { return std::find(calls.begin(), calls.end(), n) != calls.end(); };
  const bool tables = std::any_of(k.program->buffers.begin(), k.program->buffers.end(), [](const Buffer& b) { return b.kind == Buffer::Kind::table; });

  std::string r = comment(fmt::format("{} for {}, made from the spec {} by", s.name, isa.name, s.spec));
  r += comment("  " + s.command);
  r += comment(fmt::format("{} floats a vector, {} registers, {:.4g} MFLOP a call. What was decided:", isa.lanes, isa.registers, s.flops * 1e-6));
  for (const std::string& n : notes) r += comment("- " + n);
  r += fmt::format("#include \"{}.h\"\n\n{}", s.name, isa.headers);
  r += R"(
#ifdef __FAST_MATH__
#error "compile this file without -ffast-math: it relies on NaN, infinities and the order of sums"
#endif

)";
  r += isa.open + fmt::format("\nnamespace {}_{} {{\n\nnamespace {{\n\n", s.name, isa.name);
  r += prelude(isa, ops);
  if (called("smaller")) r += smaller_text;
  if (called("larger")) r += larger_text;
  r += "\n" + memory_text(k);
  for (const Function& f : k.functions) r += text(f) + "\n";
  for (const loops::Work& w : k.work)
    r += fmt::format(R"(void {0}_body(void* state, long item, int worker) {{
  const unsigned before = set_float_state();
  Memory& m = *static_cast<Memory*>(state);
  {0}(m, item, m.local + {1}L * worker);
  restore_float_state(before);
}}

)",
                     w.item, k.schedule->local_floats);
  if (s.packs && tables) r += std::string(table_text) + "\n";
  r += "}  // namespace\n\n";
  const long shared = 4 * k.schedule->workspace_floats, local = 4 * k.schedule->local_floats;
  if (local) r += fmt::format("size_t workspace_bytes(int workers) {{ return {}u + {}u * (size_t)workers; }}\n\n", shared, local);
  else r += fmt::format("size_t workspace_bytes(int) {{ return {}u; }}\n\n", shared);
  if (s.packs) r += fmt::format("size_t packed_bytes() {{ return {}u; }}\n\n", 4 * k.schedule->packed_floats) + pack_text(s, k);
  r += run_text(s, k);
  r += fmt::format("\n}}  // namespace {}_{}\n\n", s.name, isa.name) + isa.close;
  return r;
}

}  // namespace attune::emit
