#include "fuzz/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "graph/print.h"
#include "graph/verify.h"
#include "passes/pipeline.h"

namespace attune::fuzz {

namespace {

// What may be called the same: equal where not finite, else within the bound of either.
Complaint difference(const Graph& g, const std::vector<Array>& before, const std::vector<Array>& after) {
  for (std::size_t o = 0; o < before.size(); ++o)
    for (std::size_t i = 0; i < before[o].v.size(); ++i) {
      const double a = before[o].v[i], b = after[o].v[i];
      if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= before[o].bound[i]) continue;
      return fmt::format("{}[{}] was {} and is {}, with a bound of {}", g.outputs[o].name, i, a, b, before[o].bound[i]);
    }
  return {};
}

// Whether scores with removed pairs are a factor of a product: 0 times their -inf is NaN to naive code, while
// kernels leave out what a weight says nothing of.
bool multiplies_removed(const Graph& g) {
  std::vector<bool> removed(g.nodes.size());
  bool any = false;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    const bool reads = std::any_of(n.in.begin(), n.in.end(), [&](int k) { return removed[std::size_t(k)]; });
    removed[i] = n.op == Op::mask || (reads && n.op != Op::reduce_rows && n.op != Op::row_value);
    any = any || (reads && n.op == Op::matmul);
  }
  return any;
}

// What a textbook's loops promise to be right for: they neither skip removed pairs nor flush subnormals.
bool plain(const host::Case& c) {
  for (const auto& [name, values] : c.values)
    for (float x : values)
      if (std::fpclassify(x) == FP_SUBNORMAL) return false;
  return c.finite;
}

// Inputs that are added to scores hold -inf here and there, which removes pairs; none if there is no such input.
std::optional<host::Case> removing_biases(const Graph& g, const host::Case& standard) {
  host::Case r{"-inf in what is added to scores", standard.values, false};
  bool any = false;
  for (const Node& n : g.nodes) {
    if (n.op != Op::add || n.type.kind != Kind::scores) continue;
    for (int k = 0; k < 2; ++k) {
      const Node& x = g[n.in[std::size_t(k)]];
      const bool alone = std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node& u) { return std::count(u.in.begin(), u.in.end(), n.in[std::size_t(k)]); }) == 1;
      if (x.op != Op::input || !alone) continue;
      std::vector<float>& v = r.values.at(std::string(x.attr.name));
      for (std::size_t i = 0; i < v.size(); ++i)
        if (v[i] < -0.4f || (v.size() > 8 && i < v.size() / 4)) v[i] = -std::numeric_limits<float>::infinity();
      any = true;
    }
  }
  return any ? std::optional(r) : std::nullopt;
}

}  // namespace

Subject::Subject(std::uint64_t id, Graph g) : id_(id), prefix_(fmt::format("s{}", id)), graph_(std::move(g)), interface_(interface_of(graph_)), cases_(host::check_cases(graph_, interface_)) {
  if (std::optional<host::Case> c = removing_biases(graph_, cases_[0])) cases_.push_back(std::move(*c));
  for (const host::Case& c : cases_) expected_.push_back(interpret_outputs(graph_, c.values));
}

Complaint Subject::passes() const {
  Graph g = graph_;
  for (const Pass& p : attune::passes()) {
    g = p.run(g);
    try {
      verify(g);
    } catch (const InvalidGraph& e) {
      return fmt::format("the pass {} breaks the graph: {}\n{}", p.name, e.what(), to_text(g));
    }
    for (std::size_t c = 0; c < cases_.size(); ++c)
      if (const Complaint d = difference(g, expected_[c], interpret_outputs(g, cases_[c].values)); !d.empty())
        return fmt::format("the pass {} changes what is computed from inputs '{}': {}\n{}", p.name, cases_[c].name, d, to_text(g));
  }
  return {};
}

void Subject::generate(std::vector<SourceFile>& headers_and_dispatchers, std::string& code) {
  variants_.clear();
  const auto add = [&](const Variant& v, const std::vector<SourceFile>& files) {
    for (const SourceFile& f : files) {
      const bool is_code = f.name.ends_with(".cpp") && f.name != v.name + ".cpp";
      if (is_code)
        code += f.text + "\n";
      else
        headers_and_dispatchers.push_back(f);
    }
    variants_.push_back(v);
  };
  for (const std::string& isa : isa_names()) {
    GenerateOptions o{prefix_ + "_" + isa, prefix_, "attune_fuzz", {isa}, !host_supports(isa)};
    // Small graphs are within L2, unless it is small too: then tiles ask memory ahead in one way or another.
    Machine m = attune::isa(isa).machine;
    m.l2_bytes = std::array{m.l2_bytes, 2L << 10, 16L << 10, 64L << 10}[id_ % 4];
    o.machines[isa] = m;
    add({o.name, isa + (o.emulate ? " (emulated)" : ""), false}, attune::generate(graph_, o));
  }
  for (const LoopOrder order : {LoopOrder::textbook, LoopOrder::vectorisable}) {
    const bool textbook = order == LoopOrder::textbook;
    GenerateOptions o{prefix_ + (textbook ? "_textbook" : "_naive"), prefix_, "attune_fuzz"};
    add({o.name, textbook ? "naive, textbook order" : "naive, vectorisable", true}, generate_naive(graph_, o, order));
  }
}

Complaint Subject::kernels(const std::shared_ptr<const host::Library>& library, Tally& tally) const {
  const bool no_naive = multiplies_removed(graph_);
  for (const Variant& v : variants_) {
    host::Kernel kernel(library, v.name, host::Place::before_guard);
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      if (v.naive && (no_naive || !plain(cases_[c]))) continue;
      if (const Complaint wrong = run(kernel, v, c, tally); !wrong.empty()) return fmt::format("{} on inputs '{}': {}", v.label, cases_[c].name, wrong);
    }
  }
  return {};
}

Complaint Subject::run(host::Kernel& kernel, const Variant& v, std::size_t c, Tally& tally) const {
  host::Arguments arguments(interface_, cases_[c].values, host::Place::before_guard);
  const host::Deviation d = kernel.verify(interface_, arguments, expected_[c], cases_[c].finite);
  tally.elements += d.compared;
  tally.sharp += d.sharply;
  // Sums of equal terms, in order, are rounded the same way at every step: 500 of them may be off by
  // 16 times as much as bounds allow. Kernels sum by blocks, plain loops do not.
  const double limit = v.naive ? 32 : cases_[c].name == "all equal" ? 8 : 1;
  return d.over_bound <= limit ? Complaint() : d.fault();
}

std::vector<std::string> compiler_flags() {
  std::vector<std::string> flags{"-O1", "-Wall", "-Wextra", "-Werror"};
  for (const std::string& isa : isa_names())
    if (!host_supports(isa)) {
      flags.push_back("-march=native");
      break;
    }
  return flags;
}

}  // namespace attune::fuzz
