// NAME.py: the kernel for NumPy. All but its names and shapes is module.py.in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/files.h"
#include "emit/template.h"

namespace attune::emit {

extern const char* const python_module;  // the text of module.py.in

namespace {

const char* type_of(const Tensor& t) { return t.integers ? "int32" : "float32"; }

// {"x": ("float32", (1, 512, 512)), ..}
std::string dictionary(const std::vector<Tensor>& tensors) {
  std::string r;
  for (const Tensor& t : tensors) r += fmt::format("    \"{}\": (\"{}\", ({}{})),\n", t.name, type_of(t), fmt::join(t.dims, ", "), t.dims.size() == 1 ? "," : "");
  return r.empty() ? "{}" : "{\n" + r + "}";
}

std::string names(const std::vector<Tensor>& tensors, const std::string& form) {
  std::string r;
  for (const Tensor& t : tensors) r += (r.empty() ? "" : ", ") + fmt::format(fmt::runtime(form), t.name);
  return r;
}

std::string shapes(const std::string& title, const std::vector<Tensor>& tensors) {
  std::string r;
  for (const Tensor& t : tensors) r += fmt::format("  {}: {} [{}]\n", t.name, type_of(t), fmt::join(t.dims, ", "));
  return r.empty() ? "" : title + "\n" + r;
}

std::string documentation(const Signature& s) {
  std::string r = fmt::format("{}, one call of {:.4g} MFLOP.\n\n", s.spec, s.flops * 1e-6);
  if (!s.weights.empty()) r += fmt::format("kernel = kernel.pack({})\n", names(s.weights, "{0}={0}"));
  r += fmt::format("{} = kernel({})\n\n", names(s.outputs, "{}"), names(s.inputs, "{}"));
  r += shapes("Inputs, in this order or by name:", s.inputs) + shapes("Outputs:", s.outputs) + shapes("Weights, matrices [out, in] as in torch.nn.Linear:", s.weights);
  return r +
         "\nEvery array lies densely, row after row. out= takes the outputs' arrays; workers=N uses N threads. Calls from\n"
         "several threads at a time run at the same time.\n";
}

}  // namespace

std::string python(const Signature& s, const std::vector<std::string>& isas) {
  std::string files = fmt::format("\"{0}.h\", \"{0}.cpp\"", s.name);
  for (const std::string& isa : isas) files += fmt::format(", \"{}_{}.cpp\"", s.name, isa);
  return filled(python_module, {{"name", s.name}, {"command", s.command}, {"doc", documentation(s)}, {"inputs", dictionary(s.inputs)}, {"outputs", dictionary(s.outputs)}, {"weights", dictionary(s.weights)}, {"files", "(" + files + ")"}});
}

}  // namespace attune::emit
