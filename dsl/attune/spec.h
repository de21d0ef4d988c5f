// From a spec, a lambda that returns a tensor or outputs(..), to its graph.
#pragma once
#include <boost/hana/fold_left.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include "attune/reduction.h"

namespace attune {

// A name in the type system: "lse"_a names a run-time argument, "lse"_out = x names an output.
template <class String>
struct argument_name {
  template <class T> constexpr auto operator=(const T& value) const { return hana::make_pair(String{}, value); }
};
namespace literals {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wgnu-string-literal-operator-template"
#pragma GCC diagnostic ignored "-Wpedantic"
template <class C, C... c> constexpr argument_name<hana::string<c...>> operator""_a() { return {}; }
template <class C, C... c> constexpr argument_name<hana::string<c...>> operator""_out() { return {}; }
#pragma GCC diagnostic pop
}  // namespace literals
using namespace literals;

// Several results of one spec: outputs("y"_out = y, "p"_out = p).
template <class... Pairs>
constexpr auto outputs(Pairs... pairs) { return hana::make_map(pairs...); }

// A fault that only the whole graph shows. `line` and `other` are where the two uses stand.
struct Fault {
  enum class What : unsigned char { none, two_shapes, input_and_weight, output_is_input, rotated_dims };
  What what = What::none;
  std::string_view name{};
  int line = 0, other = 0;
};
constexpr Fault fault_of(const Graph& g) {
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t j = i + 1; j < g.size(); ++j) {
      const Node &a = g.nodes[i], &b = g.nodes[j];
      const bool named = (a.op == Op::input || a.op == Op::weight) && (b.op == Op::input || b.op == Op::weight);
      if (!named || a.attr.name != b.attr.name) continue;
      if (a.op != b.op) return {Fault::What::input_and_weight, a.attr.name, a.line, b.line};
      return {Fault::What::two_shapes, a.attr.name, a.line, b.line};
    }
  for (const Node& n : g.nodes) {
    if (n.op != Op::rope) continue;
    const Rotation& r = n.attr.rotation;
    const long head_dim = n.type.dims[-1];
    if ((r.dims ? r.dims : head_dim) % 2 || r.dims < 0 || r.dims > head_dim) return {Fault::What::rotated_dims, {}, n.line, -1};
  }
  for (const Output& o : g.outputs)
    for (const Node& n : g.nodes)
      if (n.op == Op::input && n.attr.name == o.name) return {Fault::What::output_is_input, o.name, n.line, g[o.node].line};
  return {};
}
template <Fault::What W, int Line, int Other>
constexpr auto report_fault() {
  using enum Fault::What;
  if constexpr (W == two_shapes) static_assert(Line == Other, "spec: one name is used for two shapes, on these two lines; give each tensor a name of its own");
  if constexpr (W == input_and_weight) static_assert(Line == Other, "spec: one name is used for an input and for a weight, on these two lines; rename one");
  if constexpr (W == output_is_input) static_assert(Line == Other, "spec: an output has the name of an input, on these two lines; rename one");
  if constexpr (W == rotated_dims) static_assert(Line == Other, "rope(x, {.dims = r}), on this line: r must be even and from 2 to head_dim");
}

template <class T> inline constexpr bool is_poison = std::is_same_v<T, poison>;

template <class Result>
constexpr Graph reify(const Result& result) {
  Reifier r;
  if constexpr (node<Result>) {
    r.output("out", result.r.get());
  } else {
    hana::for_each(result, [&](const auto& pair) { r.output(hana::to<const char*>(hana::first(pair)), hana::second(pair).r.get()); });
  }
  return r.graph();
}
template <class Result>
constexpr bool poisoned(const Result& result) {
  if constexpr (node<Result>) return is_poison<Result>;
  else return hana::fold_left(result, false, [](bool bad, const auto& pair) { return bad || is_poison<std::remove_cvref_t<decltype(hana::second(pair))>>; });
}

template <class Spec> inline constexpr Fault fault_in = fault_of(reify(Spec{}()));

// The graph of a spec, at compile time or at run time. A captureless spec is also checked as a
// whole, at compile time.
template <class Spec>
constexpr Graph graph_of(Spec spec) {
  auto result = spec();
  if constexpr (std::is_same_v<decltype(result), poison>) return {};
  else {
    if constexpr (std::is_empty_v<Spec> && std::is_default_constructible_v<Spec>) {
      constexpr Fault f = fault_in<Spec>;
      if constexpr (f.what != Fault::What::none) report_fault<f.what, f.line, f.other>();
    }
    return reify(result);
  }
}

}  // namespace attune
