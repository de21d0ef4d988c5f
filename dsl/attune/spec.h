// From a spec, a lambda that returns a tensor or outputs(..), to its graph.
#pragma once
#include <algorithm>
#include <boost/hana/for_each.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/unpack.hpp>
#include <stdexcept>

#include "attune/name.h"
#include "attune/range.h"
#include "attune/reduction.h"
#include "attune/rotary.h"

namespace attune {

// The map of outputs, or poison where something is wrong with them.
template <class... Pairs>
constexpr auto map_of_outputs(const Pairs&... pairs) {
  if constexpr (sizeof...(Pairs) == 0) {
    report_spec<Rule::no_outputs, Pairs...>();
    return poison{};
  } else if constexpr ((is_poison<Pairs> || ...)) {
    return poison{};
  } else if constexpr (!(is_named<Pairs> && ...)) {
    report_spec<Rule::output_unnamed, Pairs...>();
    return poison{};
  } else if constexpr (!(node<typename named_value<Pairs>::type> && ...)) {
    report_spec<Rule::output_not_tensor, Pairs...>();
    return poison{};
  } else if constexpr ((is_poison<typename named_value<Pairs>::type> || ...)) {
    return poison{};
  } else if constexpr (!((times_in<typename named_value<Pairs>::key, typename named_value<Pairs>::key...> == 1) && ...)) {
    report_spec<Rule::two_outputs, Pairs...>();
    return poison{};
  } else {
    return hana::make_map(pairs...);
  }
}

// Several results of one spec, in this order: outputs("y"_out = y, "p"_out = p).
template <class... Pairs>
struct outputs {
  decltype(map_of_outputs(std::declval<Pairs>()...)) map;
  int line;
  constexpr outputs(Pairs... pairs, ATTUNE_HERE) : map(map_of_outputs(pairs...)), line(here.line) {}
};
template <class... Pairs>
outputs(Pairs...) -> outputs<Pairs...>;

template <class T>
inline constexpr bool is_outputs = false;
template <class... P>
inline constexpr bool is_outputs<outputs<P...>> = true;

// A fault that only the whole graph shows. `line` <= `other` are where the two uses stand, both
// the same if there is one. `a` and `b`: see Rule.
struct Fault {
  Rule rule = Rule::ok;
  std::string_view name{};
  int line = 0, other = 0;
  long a = 0, b = 0;
};
constexpr Fault fault_at(Rule rule, std::string_view name, int line, int other) { return {rule, name, std::min(line, other), std::max(line, other)}; }

constexpr bool is_identifier(std::string_view s) {
  for (char c : s)
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return false;
  return !s.empty() && !(s[0] >= '0' && s[0] <= '9');
}

constexpr Fault fault_of_names(const Graph& g, int outputs_line) {
  std::vector<const Node*> named;
  for (const Node& n : g.nodes)
    if (n.op == Op::input || n.op == Op::weight) named.push_back(&n);
  for (const Node* n : named)
    if (!is_identifier(n->attr.name)) return fault_at(Rule::name_not_identifier, n->attr.name, n->line, n->line);
  std::sort(named.begin(), named.end(), [](const Node* a, const Node* b) { return a->attr.name < b->attr.name; });
  for (std::size_t i = 1; i < named.size(); ++i) {  // equal nodes are one, so one name on two is a fault
    const Node &a = *named[i - 1], &b = *named[i];
    if (a.attr.name == b.attr.name) return fault_at(a.op == b.op ? Rule::two_shapes : Rule::input_and_weight, a.attr.name, a.line, b.line);
  }
  for (const Output& o : g.outputs) {
    const int line = outputs_line ? outputs_line : g[o.node].line;
    if (!is_identifier(o.name)) return fault_at(Rule::name_not_identifier, o.name, line, line);
    for (const Node* n : named)
      if (n->attr.name == o.name) return fault_at(Rule::output_is_argument, o.name, n->line, line);
  }
  return {};
}

// Whether a frequency takes the logarithm of a literal that is not positive and finite, as of a base of 0.
constexpr bool takes_bad_log(const Graph& g, int frequency) {
  const Node& n = g[frequency];
  if (n.op == Op::log && g[n.in[0]].op == Op::constant && !(g[n.in[0]].attr.value > 0 && g[n.in[0]].attr.value < 1e300)) return true;
  for (int i = 0; i < n.operands(); ++i)
    if (takes_bad_log(g, n.in[std::size_t(i)])) return true;
  return false;
}

constexpr Fault fault_of_values(const Graph& g) {
  for (const Node& n : g.nodes) {
    if (n.op == Op::inverse_norm && !(n.attr.value >= 0 && n.attr.value < 1e300)) return {Rule::eps_wrong, {}, n.line, n.line};
    if (n.op == Op::rope) {
      const PairRotation& r = n.attr.rotation;
      const long head_dim = n.type.dims[-1];
      if (!rotated_dims_fit(r, head_dim)) return {Rule::rotated_dims_wrong, {}, n.line, n.line, r.dims ? r.dims : head_dim, head_dim};
      if (!(r.amplitude > 0 && r.amplitude < 1e300)) return {Rule::scaling_wrong, {}, n.line, n.line};
      if (takes_bad_log(g, n.in[1])) return {Rule::rotation_base_wrong, {}, n.line, n.line};
      if (const Outside o = outside(g, n.in[2], angles_of(n)); o.node >= 0) return {Rule::look_up_outside, g[g[o.node].in[0]].attr.name, n.line, n.line, o.dim, o.index};
    }
    if (const Dims* scores = scores_below(g, n))
      for (int k : n.in)
        if (k >= 0 && is_index(g[k].type.kind))
          if (const Outside o = outside(g, k, *scores); o.node >= 0) return {Rule::look_up_outside, g[g[o.node].in[0]].attr.name, n.line, n.line, o.dim, o.index};
    if ((n.op == Op::div || n.op == Op::mod) && n.type.kind == Kind::integer && g[n.in[1]].attr.count < 1)
      return {Rule::divisor_not_positive, {}, n.line, n.line, g[n.in[1]].attr.count};
  }
  return {};
}

constexpr Fault fault_of(const Graph& g, int outputs_line = 0) {
  const Fault f = fault_of_names(g, outputs_line);
  return f.rule == Rule::ok ? fault_of_values(g) : f;
}

// What a spec made, flattened; empty if an error was reported for it.
struct Reified {
  Graph graph;
  int outputs_line = 0;
};
template <class Result>
constexpr Reified reify(const Result& result) {
  Reifier r;
  if constexpr (is_outputs<Result>) {
    if constexpr (is_poison<decltype(result.map)>)
      return {};
    else
      hana::for_each(result.map, [&](const auto& pair) { r.output(hana::to<const char*>(hana::first(pair)), hana::second(pair).r.get()); });
    return {std::move(r).graph(), result.line};
  } else if constexpr (hana::is_a<hana::map_tag, Result>) {
    return reify(hana::unpack(result, [](const auto&... pairs) { return outputs(pairs...); }));
  } else if constexpr (is_poison<Result>) {
    return {};
  } else if constexpr (node<Result>) {
    r.output("out", result.r.get());
    return {std::move(r).graph()};
  } else {
    report_spec<Rule::result_not_tensor, Result>();
    return {};
  }
}

template <class Spec>
constexpr Fault fault_in() {
  const Reified r = reify(Spec{}());
  return fault_of(r.graph, r.outputs_line);
}

// The rule that the spec breaks as a type, so that one evaluation finds out both whether it can run
// at compile time and whether it is in order.
template <class Spec>
std::integral_constant<Rule, fault_in<Spec>().rule> broken_rule(int);
template <class Spec>
void broken_rule(...);

template <class Spec, std::size_t... I>
constexpr auto report_fault_of(std::index_sequence<I...>) {
  constexpr Fault f = fault_in<Spec>();
  report_fault<f.rule, f.line, f.other, f.a, f.b, f.name[I]...>();
}
template <class Spec>
constexpr auto check_whole() {
  using Broken = decltype(broken_rule<Spec>(0));
  if constexpr (std::is_void_v<Broken>) {
    [[maybe_unused]] constexpr Fault f = fault_in<Spec>();  // the notes of this error say what can not run at compile time
  } else if constexpr (Broken::value != Rule::ok) {
    report_fault_of<Spec>(std::make_index_sequence<fault_in<Spec>().name.size()>{});
  }
}

// The graph of a spec, at compile time or at run time. A captureless spec is also checked as a
// whole, at compile time; of another a fault is thrown.
template <class Spec>
constexpr auto graph_of(const Spec& spec) {
  if constexpr (node<Spec> || index_expression<Spec> || std::is_invocable_v<const Spec&, poison>) {
    report_spec<Rule::not_a_spec, Spec>();
    return Graph{};
  } else if constexpr (!std::is_invocable_v<const Spec&>) {
    spec();  // the compiler says why; not again if the spec itself is in error
    return Graph{};
  } else if constexpr (std::is_void_v<std::invoke_result_t<const Spec&>>) {
    report_spec<Rule::result_not_tensor, Spec>();
    return Graph{};
  } else {
    Reified made = reify(spec());
    if constexpr (std::is_empty_v<Spec> && std::is_default_constructible_v<Spec>) {
      check_whole<Spec>();
    } else if (fault_of(made.graph, made.outputs_line).rule != Rule::ok) {
      throw std::invalid_argument("graph_of(spec): a fault that shows at compile time once the lambda has no captures; make them template parameters");
    }
    return std::move(made.graph);
  }
}

}  // namespace attune
