// NAME.h, the interface of a kernel for C and C++; NAME.hpp, its named arguments for C++.
#include <fmt/format.h>

#include <algorithm>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

long floats_of(const Tensor& t) {
  long n = 1;
  for (long d : t.dims) n *= d;
  return n;
}

std::string opening(const Signature& s, const std::string& what) { return comment(what + "Made by") + "//   " + s.command + "\n"; }

static double bytes_of(const Signature& s) {
  double bytes = 0;
  for (const auto* list : {&s.inputs, &s.outputs, &s.weights})
    for (const Tensor& t : *list) bytes += 4.0 * double(floats_of(t));
  return bytes;
}

std::string spec_text(const Signature& s) {
  std::string r = comment(fmt::format("One call takes {:.4g} MFLOP on {:.4g} MB of inputs, outputs and weights.", s.flops * 1e-6, bytes_of(s) * 1e-6)) + "//\n";
  r += comment(fmt::format("The spec is {}{}", s.spec, s.source.empty() ? "." : ":"));
  for (std::size_t i = 0; i < s.source.size();) {
    const std::size_t end = std::min(s.source.find('\n', i), s.source.size());
    // A backslash at its end would draw the next line into the comment.
    const std::size_t last = s.source.find_last_not_of("\\ \t\r", end - (end > i ? 1 : 0));
    r += end == i || last == std::string::npos || last < i ? "//\n" : "//   " + s.source.substr(i, last + 1 - i) + "\n";
    i = end + 1;
  }
  return r;
}

namespace {

std::string struct_text(const std::string& name, const std::vector<std::pair<const std::vector<Tensor>*, const char*>>& members) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [tensors, type] : members)
    for (const Tensor& t : *tensors) lines.push_back({fmt::format("  {}* {};", t.integers ? "const int32_t" : type, t.name), fmt::format("[{}]", fmt::join(t.dims, ", "))});
  return fmt::format("typedef struct {0} {{\n{1}}} {0};\n\n", name, with_comments(lines));
}

std::string constants(const Signature& s) {
  const std::string& first = s.inputs.empty() ? s.outputs[0].name : s.inputs[0].name;
  std::string r = comment(fmt::format("Of each tensor its shape, as in const long shape[] = {{{}_{}_SHAPE}}, and its size.", s.name, first));
  for (const auto* list : {&s.inputs, &s.outputs, &s.weights})
    for (const Tensor& t : *list) r += fmt::format("#define {0}_{1}_SHAPE {2}\n#define {0}_{1}_{4} {3}L\n", s.name, t.name, fmt::join(t.dims, ", "), floats_of(t), t.integers ? "INTS" : "FLOATS");
  return r + "\n" +
         with_comments({{fmt::format("#define {}_FLOPS {:.0f}.0", s.name, s.flops), "of one call; removed pairs do not count"},
                        {fmt::format("#define {}_BYTES {:.0f}.0", s.name, bytes_of(s)), "of inputs, outputs and weights"}});
}

}  // namespace

std::string header(const Signature& s) {
  const std::string& n = s.name;
  const auto declare = [](const std::string& d) { return wrapped(d, 0) + "\n"; };
  std::string r = opening(s, n + ": the interface. ");
  r += spec_text(s);
  const bool integers = std::any_of(s.inputs.begin(), s.inputs.end(), [](const Tensor& t) { return t.integers; });
  r += fmt::format("#ifndef ATTUNE_{0}_H\n#define ATTUNE_{0}_H\n#include <stddef.h>\n{1}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n", n, integers ? "#include <stdint.h>\n" : "");

  r += "// Dense, row-major. Outputs may not overlap anything else.\n";
  r += struct_text(n + "_args", {{&s.inputs, "const float"}, {&s.outputs, "float"}});
  if (!s.weights.empty()) r += "// Matrices are [out, in], as in torch.nn.Linear.\n" + struct_text(n + "_weights", {{&s.weights, "const float"}});
  else if (s.packs) r += fmt::format("// There are none, but tables to fill: pass null.\ntypedef struct {0}_weights {0}_weights;\n\n", n);

  r += "// Runs body(state, item, worker) for every item below `items`, in any order, on any threads; worker\n// is below `workers`, and no two calls at a time share one.\n";
  r += declare(fmt::format("typedef void (*{}_parallel_for)(void* ctx, long items, void (*body)(void* state, long item, int worker), void* state);", n)) + "\n";
  r += "enum {\n";
  for (const char* code : {"ok", "null", "workspace_small", "workspace_misaligned", "alias", "no_isa"}) r += fmt::format("  {}_{}{}\n", n, code, std::string_view(code) == "no_isa" ? "" : ",");
  r += "};\n\n" + constants(s) + "\n";

  r += "// Bytes of scratch memory, 64-byte aligned, that a call with this many workers needs.\n";
  r += declare(fmt::format("size_t {}_workspace_bytes(int workers);", n)) + "\n";
  r += s.packs ? "// Bytes of packed weights, 64-byte aligned; packed on one CPU, they serve CPUs of the same ISA.\n" : "// 0: there is nothing to pack, and `packed` is not read.\n";
  r += declare(fmt::format("size_t {}_packed_bytes(void);", n));
  if (s.packs) r += declare(fmt::format("void {0}_pack_weights(const {0}_weights* weights, void* packed);", n));
  r += "\n// Checks the arguments first and returns one of the codes above. A null parallel_for is serial.\n";
  r += declare(fmt::format("int {0}_checked(const {0}_args* args, const void* packed, void* workspace, size_t workspace_bytes, int workers, {0}_parallel_for parallel_for, void* ctx);", n));
  r += "// The same without any check.\n";
  r += declare(fmt::format("void {0}(const {0}_args* args, const void* packed, void* workspace, int workers, {0}_parallel_for parallel_for, void* ctx);", n));
  return r + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string named_arguments(const Signature& s) {
  const std::string& n = s.name;
  const auto example = [](const std::string& call, const std::vector<const std::vector<Tensor>*>& lists) {
    std::string r = call;
    for (const auto* list : lists)
      for (const Tensor& t : *list) r += fmt::format(", \"{0}\"_a = {0}", t.name);
    std::string lines = wrapped(r + ");", 0, 95), out;
    for (std::size_t i = 0; i < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', i), lines.size());
      out += "//   " + lines.substr(i, end - i) + "\n";
      i = end + 1;
    }
    return out;
  };
  const auto fields = [&](const std::string& type, const std::vector<const std::vector<Tensor>*>& lists) {
    std::string r = fmt::format("template <>\ninline constexpr auto fields<{}> = hana::make_map(", type), comma;
    for (const auto* list : lists)
      for (const Tensor& t : *list) {
        r += fmt::format("{}\n    \"{}\"_a = &{}::{}", comma, t.name, type, t.name);
        comma = ",";
      }
    return r + ");\n";
  };
  std::string r = opening(s, n + ": named arguments for C++, checked by the compiler. No kernel needs this file; it needs Attune's dsl/ folder and Boost.Hana. ");
  r += "//\n//   using namespace attune::literals;\n";
  if (!s.weights.empty()) r += example(fmt::format("attune::pack({}_pack_weights, packed", n), {&s.weights});
  r += example(fmt::format("attune::call({}, {{{}, workspace}}", n, s.packs ? "packed" : "nullptr"), {&s.inputs, &s.outputs});
  r += fmt::format("#pragma once\n#include <attune/call.h>\n\n#include \"{}.h\"\n\nnamespace attune {{\n\n", n);
  r += fields(n + "_args", {&s.inputs, &s.outputs});
  if (!s.weights.empty()) r += "\n" + fields(n + "_weights", {&s.weights});
  return r + "\n}  // namespace attune\n";
}

}  // namespace attune::emit
