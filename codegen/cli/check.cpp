// Runs the generated kernel of each ISA against the interpreter, on standard and on adversarial inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

  // Prints a table, and adds its rows to `rows`.
  bool all(nlohmann::ordered_json& rows) {
    rows_ = &rows;
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
      for (std::size_t i = 0; i < cases_.size(); ++i) ok = run(kernel, isa, native, label, i) && ok;
      return ok;
    } catch (const host::NoCompiler&) {
      throw;
    } catch (const Error& e) {  // the other ISAs are still checked
      progress("");
      fmt::print("  {:<22} {:<24} {:>10} {:>12}  {}: {}\n", label, "-", "-", "-", fail(), e.what());
      rows_->push_back({{"spec", spec_.expression}, {"isa", isa}, {"emulated", !native}, {"inputs", nullptr}, {"max_error", nullptr}, {"error_over_bound", nullptr}, {"ok", false}, {"fault", e.what()}});
      return false;
    }
  }

  static std::string fail() { return host::in(host::Colour::red, "FAIL"); }

  bool run(host::Kernel& kernel, const std::string& isa, bool native, const std::string& label, std::size_t i) {
    const host::Case& c = cases_[i];
    host::Arguments arguments(interface_, c.values);
    const host::Deviation d = kernel.verify(interface_, arguments, expected_[i], c.finite);
    std::string fault;
    if (!d.ok())
      fault = d.fault();
    else if (i == 0 && interface_.outputs.size() == 1 && d.max_error > relative_limit(interface_) * largest(expected_[i]))
      fault = fmt::format("more than {} of the largest value", relative_limit(interface_));
    const bool ok = fault.empty();
    fmt::print("  {:<22} {:<24} {:>10.2e} {:>12.3g}  {}\n", label, c.name, d.max_error, d.over_bound, ok ? host::in(host::Colour::green, "ok") : fail() + ": " + fault);
    std::fflush(stdout);
    rows_->push_back({{"spec", spec_.expression}, {"isa", isa}, {"emulated", !native}, {"inputs", c.name}, {"max_error", d.max_error}, {"error_over_bound", d.over_bound}, {"ok", ok}, {"fault", fault}});
    return ok;
  }

  const Spec& spec_;
  const bool emulate_;  // whatever this CPU has
  GenerateOptions options_;
  Interface interface_;
  std::vector<host::Case> cases_;
  std::vector<std::vector<Array>> expected_;
  nlohmann::ordered_json* rows_ = nullptr;
};
}  // namespace

int check(const Common& common, bool emulate, JsonOutput& json) {
  bool ok = true;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Spec& spec : some_specs(common.wanted)) ok = Checker(spec, common, emulate).all(rows) && ok;
  json.write(rows);
  return ok ? 0 : 1;
}

}  // namespace attune::cli
