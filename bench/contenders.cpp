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
  Assembly(const Subject& s, const host::TemporaryFolder& folder, ThreadPool& pool, const std::function<void(const std::string&)>& progress) : subject_(s), folder_(folder), pool_(pool), progress_(progress), interface_(interface_of(s.graph)) {
    options_.name = s.kernel;
    options_.spec = s.expression;
    options_.schedules = s.schedules;
    options_.machines = s.machines;
    options_.command = fmt::format("attune bench '{}'", s.expression);
  }

  Field field(Who who) {
    const host::Case usual{"standard", host::standard_inputs(interface_), true};
    const std::vector<Array> expected = interpret(usual);
    std::string fastest = "portable";  // of the kernels here: the naive code gets the same instructions
    for (const std::string& isa : subject_.isas)
      if (host_supports(isa)) fastest = isa;
    std::vector<std::string> flags = isa(fastest).flags;
    flags.push_back("-O3");
    GenerateOptions o = options_;
    if (who == Who::everybody) {
      add("naive, textbook order", Role::naive_textbook, fastest, flags, usual, expected, [&] { return generate_naive(subject_.graph, o, LoopOrder::textbook); });
      add("naive, vectorisable", Role::naive_vectorisable, fastest, flags, usual, expected, [&] { return generate_naive(subject_.graph, o, LoopOrder::vectorisable); });
    }
    for (const std::string& isa : subject_.isas) {
      if (!host_supports(isa)) continue;
      o.isas = {isa};
      const auto files = [&] { return generate(subject_.graph, o); };
      add(isa, Role::kernel, isa, {"-O2"}, usual, expected, files);
      if (isa == "portable" && who == Who::everybody) add("portable, -march=native", Role::kernel_native, fastest, {"-O2", "-march=native"}, usual, expected, files);
    }
    if (fastest_.kernel && who == Who::everybody) {
      on_cores(usual, expected);
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
      const auto library = std::make_shared<host::Library>(generate(), folder, flags);
      const auto kernel = std::make_shared<host::Kernel>(library, subject_.kernel, place);
      enter(std::move(c), kernel, inputs, expected);
      if (role == Role::kernel) fastest_ = {isa, library, kernel, field_.contenders.size() - 1};
    } catch (const host::NoCompiler&) {
      throw;
    } catch (const Error& e) {  // the others still run
      field_.failures.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }

  // Verifies the kernel, and returns a call of it on arguments of its own.
  std::function<void()> verified(Contender& c, const std::shared_ptr<host::Kernel>& kernel, const host::Case& inputs, const std::vector<Array>& expected, host::Place where = place) {
    const auto arguments = std::make_shared<host::Arguments>(interface_, inputs.values, where);
    c.deviation = kernel->verify(interface_, *arguments, expected, inputs.finite);
    if (c.deviation.code != 0) throw Error(c.deviation.fault());
    if (!c.deviation.ok()) field_.failures.push_back(fmt::format("{}: {}", c.name, c.deviation.fault()));
    return [kernel, arguments] { (*kernel)(*arguments); };
  }

  void enter(Contender c) {
    c.seconds = seconds_of(c.run);
    if (c.seconds < 0.1) c.seconds = std::min(c.seconds, seconds_of(c.run));
    c.iterations = std::clamp(std::lround(repetition_seconds / std::max(c.seconds, 1e-9)), 1l, 20000l);
    c.repetitions = std::clamp(int(budget_seconds / (c.seconds * double(c.iterations))), fewest_repetitions, usual_repetitions);
    field_.contenders.push_back(std::move(c));
  }
  void enter(Contender c, const std::shared_ptr<host::Kernel>& kernel, const host::Case& inputs, const std::vector<Array>& expected, host::Place where = place) {
    c.run = verified(c, kernel, inputs, expected, where);
    enter(std::move(c));
  }

  // The fastest kernel again, under another name.
  template <class Enter>
  void again(const std::string& how, Enter enter) {
    Contender c;
    c.isa = fastest_.isa;
    c.name = fmt::format("{}, {}", fastest_.isa, how);
    const std::string name = c.name;
    try {
      enter(std::move(c));
    } catch (const Error& e) {
      field_.failures.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }

  // One call on all workers; and as many calls at once as there are workers, which share nothing: what the machine allows.
  void on_cores(const host::Case& inputs, const std::vector<Array>& expected) {
    const int n = pool_.workers();
    if (n == 1) return;
    again(fmt::format("{} workers", n), [&](Contender c) {
      c.cores = n;
      c.one = fastest_.at;
      enter(std::move(c), std::make_shared<host::Kernel>(fastest_.library, subject_.kernel, place, host::Workers{n, ThreadPool::parallel_for, &pool_}), inputs, expected);
    });
    again(fmt::format("{} copies at once", n), [&](Contender c) {
      c.cores = c.calls = n;
      c.one = fastest_.at;
      std::vector<std::function<void()>> copies;
      for (int w = 0; w < n; ++w) copies.push_back(verified(c, std::make_shared<host::Kernel>(fastest_.library, subject_.kernel, place), inputs, expected));
      c.run = [&pool = pool_, copies] { pool.on_each([&](int worker) { copies[std::size_t(worker)](); }); };
      enter(std::move(c));
    });
  }

  // Where the caller's memory lies as malloc gives it.
  void on_small_pages(const host::Case& inputs, const std::vector<Array>& expected) {
    again("small pages", [&](Contender c) { enter(std::move(c), std::make_shared<host::Kernel>(fastest_.library, subject_.kernel, host::Place::on_page), inputs, expected, host::Place::on_page); });
  }

  // Data that could send a kernel another way.
  void other_data() {
    for (const host::Case& data : host::bench_cases(subject_.graph, interface_))
      again(data.name, [&](Contender c) { enter(std::move(c), fastest_.kernel, data, interpret(data)); });
  }

  const Subject& subject_;
  const host::TemporaryFolder& folder_;
  ThreadPool& pool_;
  const std::function<void(const std::string&)>& progress_;
  Interface interface_;
  GenerateOptions options_;
  Field field_;
  struct {
    std::string isa;
    std::shared_ptr<const host::Library> library;
    std::shared_ptr<host::Kernel> kernel;  // null: none takes part
    std::size_t at = 0;                    // among the contenders
  } fastest_;
  int count_ = 0;
};
}  // namespace

Field assemble(const Subject& s, Who who, const host::TemporaryFolder& folder, ThreadPool& pool, const std::function<void(const std::string&)>& progress) {
  return Assembly(s, folder, pool, progress).field(who);
}

}  // namespace attune::bench
