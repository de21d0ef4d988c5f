// Runs the generated kernel of each ISA against the interpreter, on standard and on adversarial inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "cli/host/inputs.h"
#include "cli/host/kernel.h"
#include "cli/host/process.h"

namespace attune::cli {

namespace {
// On standard inputs the error is also small beside the largest value (NUMERICS.md, "The bound").
double relative_limit(const Interface& interface) { return interface.weights.empty() ? 2e-6 : 1e-5; }

double largest(const std::vector<Array>& arrays) {
  double m = 0;
  for (const Array& a : arrays)
    for (double x : a.v) m = std::max(m, std::abs(x));
  return m;
}

class Checker {
 public:
  Checker(const Spec& spec, const Common& common, bool emulate) : spec_(spec), emulate_(emulate), options_(options_for(spec, common)), interface_(interface_of(spec.graph)), cases_(host::check_cases(spec.graph, interface_)) {
    for (const host::Case& c : cases_) {
      progress(fmt::format("{}: interpreting '{}'", spec.expression, c.name));
      expected_.push_back(interpret_outputs(spec.graph, c.values));
    }
    progress("");
  }

  bool all() {
    fmt::print("{}\n  {:<22} {:<24} {:>10} {:>12}\n", spec_.expression, "ISA", "inputs", "max error", "error/bound");
    bool ok = true;
    for (const std::string& isa : options_.isas) ok = one(isa) && ok;
    return ok;
  }

 private:
  bool one(const std::string& isa) {
    const bool native = !emulate_ && host_supports(isa);
    GenerateOptions o = options_;
    o.isas = {isa};
    o.emulate = !native;
    const std::string label = isa + (native ? "" : " (emulated)");
    std::vector<std::string> flags{"-O2"};
    if (!native) flags.push_back("-march=native");
    const host::TemporaryFolder folder;
    try {
      progress(fmt::format("{}: compiling for {}", spec_.expression, label));
      host::Kernel kernel(std::make_shared<host::Library>(generate(spec_.graph, o), folder.path(), flags), o.name);
      progress("");
      bool ok = true;
      for (std::size_t i = 0; i < cases_.size(); ++i) ok = run(kernel, label, i) && ok;
      return ok;
    } catch (const host::NoCompiler&) {
      throw;
    } catch (const Error& e) {  // the other ISAs are still checked
      progress("");
      fmt::print("  {:<22} {:<24} {:>10} {:>12}  FAIL: {}\n", label, "-", "-", "-", e.what());
      return false;
    }
  }

  bool run(host::Kernel& kernel, const std::string& label, std::size_t i) {
    const host::Case& c = cases_[i];
    host::Arguments arguments(interface_, c.values);
    const host::Deviation d = kernel.verify(interface_, arguments, expected_[i], c.finite);
    std::string verdict = "ok";
    if (!d.ok())
      verdict = fmt::format("FAIL: {}", d.fault());
    else if (i == 0 && interface_.outputs.size() == 1 && d.max_error > relative_limit(interface_) * largest(expected_[i]))
      verdict = fmt::format("FAIL: more than {} of the largest value", relative_limit(interface_));
    fmt::print("  {:<22} {:<24} {:>10.2e} {:>12.3g}  {}\n", label, c.name, d.max_error, d.over_bound, verdict);
    std::fflush(stdout);
    return verdict == "ok";
  }

  const Spec& spec_;
  const bool emulate_;  // whatever this CPU has
  GenerateOptions options_;
  Interface interface_;
  std::vector<host::Case> cases_;
  std::vector<std::vector<Array>> expected_;
};
}  // namespace

int check(const Common& common, bool emulate) {
  bool ok = true;
  for (const Spec& spec : some_specs(common.wanted)) ok = Checker(spec, common, emulate).all() && ok;
  return ok ? 0 : 1;
}

}  // namespace attune::cli
