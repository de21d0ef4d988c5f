#include "bench/contenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measure.h"

namespace attune::bench {

namespace {
constexpr int usual_repetitions = 60, fewest_repetitions = 3;  // on a shared machine the best of a few is luck
constexpr double repetition_seconds = 2e-3;  // enough to drown the clock's cost, short enough to fit between two interruptions
constexpr double budget_seconds = 3;         // of one contender
constexpr host::Place place = host::Place::on_huge_page;  // what is measured is the kernel, not the table of pages

class Assembly {
 public:
  Assembly(const Subject& s, const host::TemporaryFolder& folder, const std::function<void(const std::string&)>& progress) : subject_(s), folder_(folder), progress_(progress), interface_(interface_of(s.graph)) {
    options_.name = s.kernel;
    options_.spec = s.expression;
    options_.schedules = s.schedules;
    options_.command = fmt::format("attune bench '{}'", s.expression);
  }

  Field field() {
    const host::Case usual{"standard", host::standard_inputs(interface_), true};
    const std::vector<Array> expected = interpret(usual);
    const std::string fastest = host::fastest_isa();
    std::vector<std::string> flags = host::machine_flags(fastest);
    flags.push_back("-O3");
    GenerateOptions o = options_;
    add("naive, textbook order", Role::naive_textbook, fastest, flags, usual, expected, [&] { return generate_naive(subject_.graph, o, LoopOrder::textbook); });
    add("naive, vectorisable", Role::naive_vectorisable, fastest, flags, usual, expected, [&] { return generate_naive(subject_.graph, o, LoopOrder::vectorisable); });
    for (const std::string& isa : subject_.isas) {
      if (!host::runs(isa)) continue;
      o.isas = {isa};
      add(isa, Role::kernel, isa, {"-O2"}, usual, expected, [&] { return generate(subject_.graph, o); });
    }
    if (!field_.contenders.empty() && field_.contenders.back().role == Role::kernel) {
      other_data();
      on_small_pages(usual, expected);
    }
    return std::move(field_);
  }

 private:
  std::vector<Array> interpret(const host::Case& c) {
    progress_(fmt::format("{}: interpreting '{}'", subject_.expression, c.name));
    return interpret_outputs(subject_.graph, c.values);
  }

  template <class Generate>
  void add(const std::string& name, Role role, const std::string& isa, const std::vector<std::string>& flags, const host::Case& inputs, const std::vector<Array>& expected, Generate generate) {
    progress_(fmt::format("{}: compiling {}", subject_.expression, name));
    Contender c;
    c.name = name;
    c.role = role;
    c.isa = isa;
    try {
      const auto folder = folder_.path() / fmt::format("{}_{}", subject_.kernel, count_++);
      library_ = std::make_shared<host::Library>(generate(), folder, flags);
      c.kernel = std::make_shared<host::Kernel>(library_, subject_.kernel, place);
      enter(std::move(c), inputs, expected);
    } catch (const host::NoCompiler&) {
      throw;
    } catch (const Error& e) {  // the others still run
      field_.failures.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }

  void enter(Contender c, const host::Case& inputs, const std::vector<Array>& expected, host::Place where = place) {
    c.arguments = std::make_unique<host::Arguments>(interface_, inputs.values, where);
    c.deviation = c.kernel->verify(interface_, *c.arguments, expected, inputs.finite);
    if (!c.deviation.ok()) field_.failures.push_back(fmt::format("{}: {}", c.name, c.deviation.fault()));
    if (c.deviation.code != 0) return;
    c.seconds = seconds_of(*c.kernel, *c.arguments);
    if (c.seconds < 0.1) c.seconds = std::min(c.seconds, seconds_of(*c.kernel, *c.arguments));
    c.iterations = std::clamp(std::lround(repetition_seconds / std::max(c.seconds, 1e-9)), 1l, 20000l);
    c.repetitions = std::clamp(int(budget_seconds / (c.seconds * double(c.iterations))), fewest_repetitions, usual_repetitions);
    field_.contenders.push_back(std::move(c));
  }

  // The fastest kernel again, under another name.
  template <class Enter>
  void again(const std::string& how, Enter enter) {
    const Contender& last = field_.contenders.back();
    Contender c;
    c.isa = last.isa;
    c.name = fmt::format("{}, {}", last.isa, how);
    c.kernel = last.kernel;
    const std::string name = c.name;
    try {
      enter(std::move(c));
    } catch (const Error& e) {
      field_.failures.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }

  // Where the caller's memory lies as malloc gives it.
  void on_small_pages(const host::Case& inputs, const std::vector<Array>& expected) {
    again("small pages", [&](Contender c) {
      c.kernel = std::make_shared<host::Kernel>(library_, subject_.kernel, host::Place::on_page);
      enter(std::move(c), inputs, expected, host::Place::on_page);
    });
  }

  // Data that could send a kernel another way.
  void other_data() {
    for (const host::Case& data : host::bench_cases(subject_.graph, interface_))
      again(data.name, [&](Contender c) { enter(std::move(c), data, interpret(data)); });
  }

  const Subject& subject_;
  const host::TemporaryFolder& folder_;
  const std::function<void(const std::string&)>& progress_;
  Interface interface_;
  GenerateOptions options_;
  Field field_;
  std::shared_ptr<const host::Library> library_;  // the last one
  int count_ = 0;
};
}  // namespace

Field assemble(const Subject& s, const host::TemporaryFolder& folder, const std::function<void(const std::string&)>& progress) {
  return Assembly(s, folder, progress).field();
}

}  // namespace attune::bench
