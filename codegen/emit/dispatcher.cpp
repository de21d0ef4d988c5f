// NAME.cpp: picks the ISA on every call, and checks arguments.
#include <fmt/format.h>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

namespace {

std::string line(const std::string& s, int indent = 0) { return wrapped(s, indent) + "\n"; }

// if (condition) statement, in one line or in three.
std::string when(const std::string& condition, const std::string& statement) {
  const std::string short_form = fmt::format("  if ({}) {}\n", condition, statement);
  return short_form.size() <= 101 ? short_form : line(fmt::format("if ({}) {{", condition), 2) + line(statement, 4) + "  }\n";
}

// The parameters of a run, without their types or with them.
std::string run_arguments() { return "args, packed, workspace, workers, parallel_for, ctx"; }
std::string run_parameters(const std::string& n, bool sized = false) {
  return fmt::format("const {0}_args* args, const void* packed, void* workspace, {1}int workers, {0}_parallel_for parallel_for, void* ctx", n, sized ? "size_t workspace_bytes, " : "");
}

std::string declarations(const Signature& s, const std::string& isa) {
  const std::string& n = s.name;
  std::string r = fmt::format("namespace {}_{} {{\nsize_t workspace_bytes(int workers);\n", n, isa);
  if (s.packs) r += fmt::format("size_t packed_bytes();\n{}", line(fmt::format("void pack_weights(const {}_weights* weights, float* packed);", n)));
  return r + line(fmt::format("void run({});", run_parameters(n))) + fmt::format("}}  // namespace {}_{}\n\n", n, isa);
}

// Which ISA this CPU has, the best one first.
std::string choice(const std::vector<std::string>& isas, const std::vector<std::string>& tests) {
  std::string names = "  none,\n", r;
  for (const std::string& isa : isas) names += "  " + isa + ",\n";
  bool always = false;
  for (std::size_t i = isas.size(); i-- > 0 && !always;) {
    always = tests[i] == "1";
    const std::string found = fmt::format("return Isa::{};", isas[i]);
    r += always ? line(found, 2) : when(tests[i], found);
  }
  if (!always) r += "  return Isa::none;\n";
  return fmt::format("enum class Isa {{\n{}}};\n\n// The best that this CPU has.\nIsa best_isa() {{\n{}}}\n\n", names, r);
}

class Checks {
 public:
  explicit Checks(const Signature& s) : s_(s) {
    for (const auto& t : s.inputs) reads_.push_back({"args->" + t.name, fmt::format("{}", 4 * floats_of(t))});
    for (const auto& t : s.outputs) writes_.push_back({"args->" + t.name, fmt::format("{}", 4 * floats_of(t))});
  }

  std::string text() {
    const std::string& n = s_.name;
    const auto code = [&](const char* what) { return fmt::format("return {}_{};", n, what); };
    std::string r = when("best_isa() == Isa::none", code("no_isa")) + "\n";
    std::string null = "!args";
    for (const auto* list : {&reads_, &writes_})
      for (const Span& p : *list)
        if (p.bytes != "0") null += " || !" + p.pointer;
    if (s_.packs) null += " || !packed";
    r += when(null, code("null"));
    r += line(fmt::format("const size_t needed = {}_workspace_bytes(workers);", n), 2);
    r += when("needed && !workspace", code("null")) + when("workspace_bytes < needed", code("workspace_small"));
    r += when(s_.packs ? "misaligned(workspace) || misaligned(packed)" : "misaligned(workspace)", code("workspace_misaligned"));
    return r + "\n" + overlaps() + "\n";
  }

 private:
  struct Span {
    std::string pointer, bytes;
  };

  // What is written must be apart from all else.
  std::string overlaps() {
    const Span work{"workspace", "needed"};
    if (s_.packs) reads_.push_back({"packed", s_.name + "_packed_bytes()"});
    std::string any;
    const auto alias = [&](const Span& a, const Span& b) { any += fmt::format("{}overlap({}, {}, {}, {})", any.empty() ? "" : " || ", a.pointer, a.bytes, b.pointer, b.bytes); };
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      for (const Span& p : reads_) alias(writes_[i], p);
      for (std::size_t j = i + 1; j < writes_.size(); ++j) alias(writes_[i], writes_[j]);
      alias(writes_[i], work);
    }
    for (const Span& p : reads_) alias(work, p);
    return line(fmt::format("const bool alias = {};", any), 2) + when("alias", fmt::format("return {}_alias;", s_.name));
  }

  const Signature& s_;
  std::vector<Span> reads_, writes_;
};

constexpr const char* helpers = R"(bool misaligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 != 0; }

// Whether [a, a + a_bytes) and [b, b + b_bytes) share a byte.
bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes && b_bytes && x < y + b_bytes && y < x + a_bytes;
}

}  // namespace

extern "C" {

)";

}  // namespace

std::string dispatcher(const Signature& s, const std::vector<std::string>& isas, const std::vector<std::string>& tests) {
  const std::string& n = s.name;
  std::string r = opening(s, n + ": picks the ISA on every call, and checks arguments. ");
  r += fmt::format("#include \"{}.h\"\n\n#include <stdint.h>\n\n", n);
  for (const std::string& isa : isas) r += declarations(s, isa);
  r += "namespace {\n\n" + choice(isas, tests) + helpers;

  const auto each = [&](const std::string& call) {
    std::string t = "  switch (best_isa()) {\n    case Isa::none:\n      break;\n";
    for (const std::string& isa : isas) t += fmt::format("    case Isa::{}:\n{}", isa, line(fmt::format("return {}_{}::{};", n, isa, call), 6));
    return t + "  }\n";
  };
  r += line(fmt::format("size_t {}_workspace_bytes(int workers) {{", n)) + each("workspace_bytes(workers < 1 ? 1 : workers)") + "  return 0;\n}\n\n";
  if (s.packs) {
    r += line(fmt::format("size_t {}_packed_bytes(void) {{", n)) + each("packed_bytes()") + "  return 0;\n}\n\n";
    r += line(fmt::format("void {0}_pack_weights(const {0}_weights* weights, void* packed) {{", n)) + each("pack_weights(weights, static_cast<float*>(packed))") + "}\n\n";
  } else {
    r += line(fmt::format("size_t {}_packed_bytes(void) {{ return 0; }}", n)) + "\n";
  }
  r += line(fmt::format("void {}({}) {{", n, run_parameters(n))) + each(fmt::format("run({})", run_arguments())) + "}\n\n";
  r += line(fmt::format("int {}_checked({}) {{", n, run_parameters(n, true))) + Checks(s).text();
  r += line(fmt::format("{}(args, packed, workspace, workers < 1 ? 1 : workers, parallel_for, ctx);", n), 2);
  return r + fmt::format("  return {}_ok;\n}}\n\n}}  // extern \"C\"\n", n);
}

}  // namespace attune::emit
