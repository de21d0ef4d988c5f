// Holds the cost model to measurement, over configurations that nobody chose.
#include "bench/verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "cli/commands.h"

namespace attune::cli {
namespace {

std::string drawn_spec(std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<long> list) { return list.begin()[random() % list.size()]; };
  const long heads = one_of({1, 2, 4, 8}), seq = one_of({48, 64, 96, 128, 200, 256, 320, 384, 512}), head_dim = one_of({32, 40, 64, 80, 96, 128});
  if (random() % 3 == 0) return fmt::format("textbook_mha<1,{},{},{}>", seq, heads * 64, heads);
  return fmt::format("sdpa<1,{},{},{},{}>", heads, seq, head_dim, random() % 2 ? "true" : "false");
}

}  // namespace

int verdict(const Common& common, unsigned seed, int configurations, int candidates, JsonOutput& json) {
  std::mt19937 random(seed);
  bool ok = true;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  fmt::print("seed {}: {} configurations, {} schedules each\n", seed, configurations, candidates);
  fmt::print("{:<30} {:<8} {:>10} {:>12} {:>12} {:>8} {:>12}\n", "spec", "ISA", "schedules", "first loses", "median loses", "spread", "correlation");
  int counted = 0;
  for (int i = 0; counted < configurations && i < 4 * configurations; ++i) {
    Common one = common;
    one.wanted.target = drawn_spec(random);
    const Spec spec = one_spec(one.wanted);
    const GenerateOptions o = options_for(spec, one);
    const std::string isa = common.isas.empty() ? fastest_isa() : common.isas[std::size_t(i) % common.isas.size()];
    if (!host_supports(isa)) throw Error(fmt::format("this CPU does not run {}", isa));
    const bench::Subject subject{spec.expression, o.name, {isa}, spec.graph, {}, o.machines};
    const bench::Verdict v = bench::judge(subject, isa, candidates, unsigned(random()), [&](std::size_t done, std::size_t all, const std::string& what) { progress(fmt::format("{} of {}, {}: {} {}/{}", counted + 1, configurations, spec.expression, what, done, all)); });
    progress("");
    fmt::print("{:<30} {:<8} {:>10} {:>10.1f} % {:>10.1f} % {:>7.2f}x {:>12.2f}  {}\n", v.expression, isa, v.candidates, 100 * v.loss, 100 * v.median_loss, v.spread, v.correlation, !v.ok() ? host::in(host::Colour::red, "FAIL") : v.wide() ? host::in(host::Colour::green, "ok") : "too alike to count");
    fmt::print("  the model's: {}\n  the best:    {}\n", v.first, v.best);
    for (const std::string& f : v.failures) fmt::print("  {} {}\n", host::in(host::Colour::red, "FAIL"), f);
    std::fflush(stdout);
    rows.push_back({{"spec", v.expression}, {"isa", isa}, {"schedules", v.candidates}, {"first_loses", v.loss}, {"median_loses", v.median_loss}, {"spread", v.spread}, {"correlation", v.correlation}, {"models", v.first}, {"best", v.best}, {"counts", v.wide()}, {"ok", v.ok()}, {"failures", v.failures}});
    ok = ok && v.ok();
    counted += v.wide();
  }
  if (counted < configurations) fmt::print("only {} configurations have schedules far enough apart\n", counted);
  ok = ok && counted == configurations;
  fmt::print("verdict: {} (the model's first within 8 % of the best; over {} configurations whose slowest schedule takes 1.3 times the fastest's time or more, a rank correlation of at least 0.7)\n", ok ? "the model holds" : "the model does not hold", configurations);
  if (json.wanted()) json.write({{"seed", seed}, {"holds", ok}, {"configurations", rows}});
  return ok ? 0 : 1;
}

}  // namespace attune::cli
