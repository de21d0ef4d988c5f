// Tensors of a spec: the type is the kind and the shape, the structure is a constexpr value.
#pragma once
#include <string_view>
#include <utility>
#include "attune/index.h"
#include "attune/report.h"

namespace attune {

template <Kind K, long... D>
struct expr {
  static constexpr Type type{K, {int(sizeof...(D)), {D...}}};
  ref r;
};
template <long... D> using tensor = expr<Kind::tensor, D...>;
template <long B, long H, long Q, long KV> using scores = expr<Kind::scores, B, H, Q, KV>;

// What an op returns after its error was reported; whatever takes it returns it again, silently.
struct poison {
  static constexpr Type type{};
  ref r{};
};

template <class T> struct is_tensor : std::false_type {};
template <Kind K, long... D> struct is_tensor<expr<K, D...>> : std::true_type {};
template <> struct is_tensor<poison> : std::true_type {};
template <class T> concept node = is_tensor<std::remove_cvref_t<T>>::value;
template <class T> concept operand = node<T> || index_operand<T>;

template <operand T>
constexpr Type type_of() {
  if constexpr (node<T>) return T::type;
  else return {decltype(lift(std::declval<T>()))::kind, {}};
}
template <operand T>
constexpr ref ref_of(const T& t, int line) {
  if constexpr (node<T>) return t.r;
  else return fold(lift(t), line);
}

template <Type T>
constexpr auto expr_of() {
  return []<std::size_t... I>(std::index_sequence<I...>) { return std::type_identity<expr<T.kind, T.dims.d[I]...>>{}; }(std::make_index_sequence<std::size_t(T.dims.rank)>{});
}

// Only scores have coordinates, so only they take an index expression that is no mere number.
template <operand A, operand B>
constexpr bool index_misplaced() {
  if constexpr (std::is_same_v<A, poison> || std::is_same_v<B, poison>) return false;
  else if constexpr (node<A>) return A::type.kind != Kind::scores && index_expression<B>;
  else return B::type.kind != Kind::scores && index_expression<A>;
}


template <Op O, long Count, long RotatedDims, class... In>
inline constexpr Inferred inferred = [] {
  constexpr Type types[max_operands]{type_of<In>()...};
  Attr at;
  at.count = Count;
  at.rotation.dims = RotatedDims;
  return infer(O, at, types, int(sizeof...(In)));
}();

// Makes the node `O(in...)`, or reports the rule it breaks. Count and RotatedDims are what the
// shape rules need of the attributes.
template <Op O, long Count = 0, long RotatedDims = 0, class... In>
constexpr auto make(Attr at, int line, const In&... in) {
  if constexpr ((std::is_same_v<In, poison> || ...)) return poison{};
  else {
    constexpr Inferred r = inferred<O, Count, RotatedDims, In...>;
    if constexpr (r.rule != Rule::ok) {
      report<r.rule, r.a, r.b>();
      return poison{};
    } else {
      at.count = Count;
      return typename decltype(expr_of<r.type>())::type{ref(O, r.type, at, line, ref_of(in, line)...)};
    }
  }
}

}  // namespace attune
