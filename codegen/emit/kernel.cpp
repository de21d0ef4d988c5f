// NAME_<isa>.cpp: the kernel for one ISA, in a namespace of its own.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

using loops::Function;
using loops::Kernel;

namespace {

std::string line(const std::string& s, int indent = 0) { return wrapped(s, indent) + "\n"; }

// Functions that the prelude has no table for, since they are about loops and not about vectors.
constexpr const char* smaller_text = "static inline long smaller(long a, long b) { return b < a ? b : a; }\n";
constexpr const char* larger_text = "static inline long larger(long a, long b) { return b > a ? b : a; }\n";

constexpr const char* fast_math_text = R"(
#ifdef __FAST_MATH__
  #error "compile this file without -ffast-math: it relies on NaN, infinities and the order of sums"
#endif

)";

constexpr const char* turn_text = R"(// amplitude * cos and sin of the angles of a row's pairs, sines with the sign of their place. In
// double, rounded once; the angle is taken from the nearest multiple of pi/2, exactly up to 2^27 of
// them, and the polynomials are those of fdlibm.
template <long pairs, bool neighbours>
static inline void turn(float* cosines, float* sines, const double* angle, double amplitude) {
  double c[pairs], s[pairs];
  for (long i = 0; i < pairs; ++i) {
    const double shifted = angle[i] * 0x1.45f306dc9c883p-1 + 0x1.8p+52;
    const double quarters = shifted - 0x1.8p+52;
    unsigned long long quarter;
    __builtin_memcpy(&quarter, &shifted, 8);
    const double near = angle[i] - quarters * 0x1.921fb5p+0 - quarters * 0x1.110b46p-26;
    const double r = near - quarters * 0x1.1a62633145c07p-54;
    const double z = r * r, zz = z * z;
    const double s0 = -0x1.5555555555549p-3 + z * 0x1.111111110f8a6p-7;
    const double s1 = -0x1.a01a019c161d5p-13 + z * 0x1.71de357b1fe7dp-19;
    const double s2 = -0x1.ae5e68a2b9cebp-26 + z * 0x1.5d93a5acfd57cp-33;
    const double c0 = 0x1.555555555554cp-5 - z * 0x1.6c16c16c15177p-10;
    const double c1 = 0x1.a01a019cb159p-16 - z * 0x1.27e4f809c52adp-22;
    const double c2 = 0x1.1ee9ebdb4b1c4p-29 - z * 0x1.8fae9be8838d4p-37;
    const double sine = r + r * z * (s0 + zz * (s1 + zz * s2));
    const double cosine = 1 - 0.5 * z + zz * (c0 + zz * (c1 + zz * c2));
    const double x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
    c[i] = (quarter + 1) & 2 ? -x : x;
    s[i] = quarter & 2 ? -y : y;
  }
  for (long i = 0; i < pairs; ++i) {
    const long a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + pairs;
    cosines[a] = cosines[b] = (float)(amplitude * c[i]);
    sines[b] = (float)(amplitude * s[i]);
    sines[a] = -sines[b];
  }
}

)";

constexpr const char* norm_text = R"(// 1 / sqrt(max(factor * sum x^2 + added, least)) in double, rounded once; the root by Newton's steps.
template <long n>
static inline float inverse_norm(const float* x, double factor, double added, double least) {
  double sums[4] = {0, 0, 0, 0};
  for (long i = 0; i < n; ++i) sums[i % 4] += (double)x[i] * (double)x[i];
  const double sum = factor * ((sums[0] + sums[1]) + (sums[2] + sums[3])) + added;
  const double s = sum < least ? least : sum;
  if (s == 0) return __builtin_inff();
  if (s > __DBL_MAX__) return 0;
  unsigned long long bits;
  __builtin_memcpy(&bits, &s, 8);
  bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
  double root;
  __builtin_memcpy(&root, &bits, 8);
  for (int i = 0; i < 4; ++i) root *= 1.5 - 0.5 * s * root * root;
  return s == s ? (float)root : (float)s;
}

)";

// A pointer and an offset, unless that is 0.
std::string at(const char* pointer, long offset) { return offset ? fmt::format("{} + {}", pointer, offset) : pointer; }

std::string pack_text(const Signature& s, const Kernel& k) {
  const std::string body = text(k.pack, 2);
  const bool reads = body.find("w->") != std::string::npos;
  const bool writes = body.find("packed") != std::string::npos;
  return line(fmt::format("void pack_weights(const {}_weights*{}, float*{}) {{", s.name, reads ? " w" : "", writes ? " packed" : "")) + body + "}\n\n";
}

std::string memory_text(const Kernel& k) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Buffer& b : k.program->buffers) {
    const bool written = b.kind == Buffer::Kind::output || b.kind == Buffer::Kind::scratch;
    const char* what = b.kind == Buffer::Kind::scratch ? "in the workspace" : b.kind == Buffer::Kind::table ? "packed" : b.kind == Buffer::Kind::weight ? "packed" : "";
    lines.push_back({fmt::format("  {}{}* {};", written ? "" : "const ", b.integers ? "int" : "float", b.name), what});
  }
  lines.push_back({"  const float* packed;", ""});
  lines.push_back({"  float* local;", "of worker 0; the others' follow"});
  const bool outer = std::any_of(k.functions.begin(), k.functions.end(), [](const Function& f) { return reads(f, "c0") || reads(f, "c1"); });
  std::string r = comment(std::string("Where everything lies.") + (outer ? " Below, c0 and c1 count the outer dimensions, row and col the inner ones." : "")) + "struct Memory {\n";
  // clang-format lines up comments of adjacent lines only.
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i + 1;
    while (end < lines.size() && lines[end].second.empty() == lines[i].second.empty()) ++end;
    r += with_comments({lines.begin() + long(i), lines.begin() + long(end)});
    i = end;
  }
  return r + "};\n\n";
}

// One item of work, by its number and the worker that does it.
std::string item_text(const loops::Work& w, const Function& item, const Kernel& k) {
  const bool local = reads(item, "local");
  const std::string of_worker = fmt::format("m.local + {}L * worker", k.schedule->local_floats);
  const std::string place = w.local.empty() ? of_worker : fmt::format("*reinterpret_cast<{}*>({})", w.local, of_worker);
  return line(fmt::format("void {}_item(const Memory& m, long item, int{}) {{", w.item, local ? " worker" : "")) + line(fmt::format("{}(m, item{});", w.item, local ? ", " + place : ""), 2) + "}\n\n";
}

constexpr const char* on_worker_text = R"(// An item on a thread of its own, whose floating-point state comes back as it was.
template <void (*Item)(const Memory&, long, int)>
void on_worker(void* m, long item, int worker) {
  const unsigned before = set_float_state();
  Item(*static_cast<Memory*>(m), item, worker);
  restore_float_state(before);
}

)";

std::string run_text(const Signature& s, const Kernel& k) {
  std::string r = line(fmt::format("void run(const {0}_args* args, const void* packed, void* workspace, int workers, {0}_parallel_for parallel_for, void* ctx) {{", s.name));
  r += "  Memory m;\n  m.packed = static_cast<const float*>(packed);\n  float* scratch = static_cast<float*>(workspace);\n";
  for (std::size_t i = 0; i < k.program->buffers.size(); ++i) {
    const Buffer& b = k.program->buffers[i];
    const long offset = k.schedule->buffer_offset[i];
    switch (b.kind) {
      case Buffer::Kind::input:
      case Buffer::Kind::output: r += fmt::format("  m.{0} = args->{0};\n", b.name); break;
      case Buffer::Kind::scratch: r += fmt::format("  m.{} = {};\n", b.name, at("scratch", offset)); break;
      case Buffer::Kind::weight:
      case Buffer::Kind::table: r += fmt::format("  m.{} = {};\n", b.name, at("m.packed", offset)); break;
    }
  }
  r += fmt::format("  m.local = {};\n", at("scratch", k.schedule->workspace_floats));
  if (k.work.empty()) return r + "  (void)m, (void)workers, (void)parallel_for, (void)ctx;\n}\n";  // nothing is written
  r += R"(
  const auto each = [&](long items, void (*one)(const Memory&, long, int),
                        void (*one_of_many)(void*, long, int)) {
    if (parallel_for && workers > 1) return parallel_for(ctx, items, one_of_many, &m);
    const unsigned before = set_float_state();
    for (long item = 0; item < items; ++item) one(m, item, 0);
    restore_float_state(before);
  };
)";
  for (const loops::Work& w : k.work)
    if (w.items > 0) r += line(fmt::format("each({0}, {1}_item, on_worker<{1}_item>);", w.items, w.item), 2);
  return r + "}\n";
}

std::string workspace_text(const Kernel& k) {
  const long shared = 4 * k.schedule->workspace_floats, local = 4 * k.schedule->local_floats;
  const std::string each = fmt::format("{}u * (size_t)workers", local);
  return fmt::format("size_t workspace_bytes(int{}) {{ return {}; }}\n\n", local ? " workers" : "", !local ? fmt::format("{}u", shared) : shared ? fmt::format("{}u + {}", shared, each) : each);
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
  const auto some = [&](const char* n) { return std::any_of(calls.begin(), calls.end(), [&](const std::string& c) { return c.rfind(n, 0) == 0; }); };

  std::string r = opening(s, fmt::format("{} for {}: {} floats a vector, {} registers. ", s.name, isa.name, isa.lanes, isa.registers));
  r += spec_text(s) + "//\n// What was decided:\n";
  for (const std::string& n : notes) r += comment("- " + n);
  r += fmt::format("#include \"{}.h\"\n", s.name) + (isa.headers.empty() ? "" : "\n" + isa.headers) + fast_math_text;
  r += isa.open + fmt::format("\nnamespace {}_{} {{\n\nnamespace {{\n\n", s.name, isa.name);
  r += prelude(isa, ops) + "\n";
  if (called("smaller")) r += smaller_text;
  if (called("larger")) r += larger_text;
  if (called("smaller") || called("larger")) r += "\n";
  if (some("turn<")) r += turn_text;
  if (some("inverse_norm<")) r += norm_text;
  r += memory_text(k);
  for (const loops::Struct& l : k.structs) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& f : l.fields) fields.push_back({fmt::format("  float {}[{}];", f.name, f.floats), f.comment});
    r += comment(l.comment) + fmt::format("struct {} {{\n{}}};\n\n", l.name, with_comments(fields));
  }
  for (Function f : k.functions) {
    if (f.fixed && !f.step && !reads(f, "local")) f.parameters.pop_back();  // the worker's memory stands last
    r += text(f, f.step && isa.assemble ? isa.assemble(*f.step) : "", s.name + "_PLAIN") + "\n";
  }
  if (!k.work.empty()) r += on_worker_text;
  for (const loops::Work& w : k.work) r += item_text(w, *std::find_if(k.functions.begin(), k.functions.end(), [&](const Function& f) { return f.name == w.item; }), k);
  r += "}  // namespace\n\n" + workspace_text(k);
  if (s.packs) r += fmt::format("size_t packed_bytes() {{ return {}u; }}\n\n", 4 * k.schedule->packed_floats) + pack_text(s, k);
  r += run_text(s, k);
  r += fmt::format("\n}}  // namespace {}_{}\n\n", s.name, isa.name) + isa.close;
  return r;
}

}  // namespace attune::emit
