// Tensors of a spec: the type is the kind and the shape, the structure is a constexpr value.
#pragma once
#include <utility>

#include "attune/index.h"

namespace attune {

// Where the user calls an op. No plain int, so that softmax(s, -1) is not taken for a line.
struct Here {
  int line;
  constexpr explicit Here(int l) : line(l) {}
};
#define ATTUNE_HERE Here here = Here(__builtin_LINE())

template <Kind K, long... D>
struct expr {
  static constexpr Type type{K, {int(sizeof...(D)), {D...}}};
  ref r;
  constexpr explicit expr(ref declared) : r(declared) {}
  constexpr expr(poison) {}  // its error was reported
};
template <long... D>
using tensor = expr<Kind::tensor, D...>;
template <long B, long H, long Q, long KV>
using scores = expr<Kind::scores, B, H, Q, KV>;

template <class T>
inline constexpr bool is_tensor = false;
template <Kind K, long... D>
inline constexpr bool is_tensor<expr<K, D...>> = true;
template <>
inline constexpr bool is_tensor<poison> = true;
template <class T>
concept node = is_tensor<std::remove_cvref_t<T>>;
template <class T>
concept operand = node<T> || index_operand<T>;

template <operand T>
constexpr Type type_of() {
  if constexpr (node<T>)
    return T::type;
  else
    return {lifted<T>::kind, {}};
}
template <operand T>
constexpr ref ref_of(const T& t, int line) {
  if constexpr (node<T>)
    return t.r;
  else
    return fold(lift(t), line);
}

template <Type T>
constexpr auto expr_of() {
  return []<std::size_t... I>(std::index_sequence<I...>) { return std::type_identity<expr<T.kind, T.dims.d[I]...>>{}; }
  (std::make_index_sequence<std::size_t(T.dims.rank)>{});
}

template <Op O, long Count, long RotatedDims, long From, class... In>
inline constexpr Inferred inferred = [] {
  constexpr Leaves used = (leaves<In> | ... | 0u);
  if (O != Op::rope && (used & of_angles)) return wrong(Rule::rotary_leaf_misplaced);
  if (O != Op::reduce_rows && O != Op::row_value && (used & ~(coordinates | of_angles))) return wrong(Rule::row_state_misplaced);
  constexpr Type types[max_operands]{type_of<In>()...};
  Attr at;
  at.count = Count;
  at.from = From;
  at.rotation.dims = RotatedDims;
  return infer(O, at, types, int(sizeof...(In)));
}();

// Makes the node `O(in...)`, or reports the rule it breaks. Count, RotatedDims and From are what the
// shape rules need of the attributes.
template <Op O, long Count = 0, long RotatedDims = 0, long From = 0, class... In>
constexpr auto make(Attr at, int line, const In&... in) {
  if constexpr ((is_poison<In> || ...))
    return poison{};
  else {
    constexpr Inferred r = inferred<O, Count, RotatedDims, From, In...>;
    if constexpr (r.rule != Rule::ok) {
      report<r.rule, O, r.a, r.b>();
      return poison{};
    } else {
      at.count = Count;
      at.from = From;
      return typename decltype(expr_of<r.type>())::type{ref(O, r.type, at, line, ref_of(in, line)...)};
    }
  }
}

}  // namespace attune
