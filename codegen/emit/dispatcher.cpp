#include <fmt/format.h>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

std::string dispatcher(const Signature& s, const std::vector<std::string>& isas, const std::vector<std::string>& tests) {
  const std::string& n = s.name;
  std::string r = comment(fmt::format("{}: picks the ISA on every call, and checks arguments. Made by", n));
  r += comment("  " + s.command);
  r += fmt::format("#include \"{}.h\"\n\n#include <stdint.h>\n\n", n);
  for (const std::string& isa : isas) {
    r += fmt::format("namespace {}_{} {{\nsize_t workspace_bytes(int workers);\n", n, isa);
    if (s.packs) r += fmt::format("size_t packed_bytes();\nvoid pack_weights(const {}_weights* w, float* packed);\n", n);
    r += fmt::format(R"(void run(const {0}_args* args, const void* packed, void* workspace, int workers,
    {0}_parallel_for parallel_for, void* ctx);
}}  // namespace {0}_{1}

)",
                     n, isa);
  }
  r += "namespace {\n\n";
  bool always = false;
  for (const std::string& t : tests) always = always || t == "1";
  r += comment("Which ISA this CPU has, the best one first: counted from 1, or 0 for none.") + "int best_isa() {\n";
  if (!always || isas.size() > 1) {
    for (std::size_t i = isas.size(); i-- > 0;) {
      if (tests[i] == "1") {
        r += fmt::format("  return {};  // {}\n", i + 1, isas[i]);
        break;
      }
      r += wrapped(fmt::format("if ({}) return {};  // {}", tests[i], i + 1, isas[i]), 2) + "\n";
    }
    if (!always) r += "  return 0;\n";
  } else {
    r += fmt::format("  return 1;  // {}\n", isas[0]);
  }
  r += "}\n\n";
  r += R"(// Whether [a, a + a_bytes) and [b, b + b_bytes) share a byte.
bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes && b_bytes && x < y + b_bytes && y < x + a_bytes;
}

}  // namespace

extern "C" {

)";
  const auto each = [&](const std::string& call) {
    std::string t = "  switch (best_isa()) {\n";
    for (std::size_t i = 0; i < isas.size(); ++i) t += fmt::format("    case {}:\n      return {}_{}::{};\n", i + 1, n, isas[i], call);
    return t + "  }\n";
  };
  r += fmt::format("size_t {}_workspace_bytes(int workers) {{\n{}  return 0;\n}}\n\n", n, each("workspace_bytes(workers < 1 ? 1 : workers)"));
  if (!s.packs) r += fmt::format("size_t {}_packed_bytes(void) {{ return 0; }}\n\n", n);
  if (s.packs) {
    r += fmt::format("size_t {}_packed_bytes(void) {{\n{}  return 0;\n}}\n\n", n, each("packed_bytes()"));
    r += fmt::format("void {0}_pack_weights(const {0}_weights* weights, void* packed) {{\n{1}}}\n\n", n, each("pack_weights(weights, static_cast<float*>(packed))"));
  }
  r += fmt::format("void {0}(const {0}_args* args, const void* packed, void* workspace, int workers,\n    {0}_parallel_for parallel_for, void* ctx) {{\n{1}}}\n\n", n, each("run(args, packed, workspace, workers, parallel_for, ctx)"));

  // The checks, tensor by tensor.
  r += fmt::format("int {0}_checked(const {0}_args* args, const void* packed, void* workspace, size_t workspace_bytes,\n    int workers, {0}_parallel_for parallel_for, void* ctx) {{\n", n);
  r += fmt::format("  if (!best_isa()) return {}_no_isa;\n  if (!args) return {}_null;\n", n, n);
  struct Span {
    std::string pointer, bytes;
  };
  std::vector<Span> reads, writes;
  for (const auto& t : s.inputs) reads.push_back({"args->" + t.name, fmt::format("{}", 4 * floats_of(t))});
  for (const auto& t : s.outputs) writes.push_back({"args->" + t.name, fmt::format("{}", 4 * floats_of(t))});
  for (const auto* list : {&reads, &writes})
    for (const Span& p : *list)
      if (p.bytes != "0") r += fmt::format("  if (!{}) return {}_null;\n", p.pointer, n);
  if (s.packs) {
    r += fmt::format("  if (!packed) return {}_null;\n", n);
    reads.push_back({"packed", n + "_packed_bytes()"});
  }
  r += fmt::format(R"(  const size_t needed = {0}_workspace_bytes(workers);
  if (needed && !workspace) return {0}_null;
  if (workspace_bytes < needed) return {0}_workspace_small;
  if (reinterpret_cast<uintptr_t>(workspace) % 64) return {0}_workspace_misaligned;
)",
                   n);
  if (s.packs) r += fmt::format("  if (reinterpret_cast<uintptr_t>(packed) % 64) return {}_workspace_misaligned;\n", n);
  const Span work{"workspace", "needed"};
  const auto alias = [&](const Span& a, const Span& b) { r += wrapped(fmt::format("if (overlap({}, {}, {}, {})) return {}_alias;", a.pointer, a.bytes, b.pointer, b.bytes, n), 2) + "\n"; };
  for (std::size_t i = 0; i < writes.size(); ++i) {
    for (const Span& p : reads) alias(writes[i], p);
    for (std::size_t j = i + 1; j < writes.size(); ++j) alias(writes[i], writes[j]);
    alias(writes[i], work);
  }
  for (const Span& p : reads) alias(work, p);
  r += fmt::format("  {0}(args, packed, workspace, workers < 1 ? 1 : workers, parallel_for, ctx);\n  return {0}_ok;\n}}\n\n}}  // extern \"C\"\n", n);
  return r;
}

}  // namespace attune::emit
