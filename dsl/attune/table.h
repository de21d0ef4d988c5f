// Tables that index expressions read: arguments of each call, or learned and given with the weights. They can
// be named constants, as predicates can:
//
//   constexpr auto lengths = table<int32, Batch>("lengths");
//   constexpr auto present = kv_index < lengths(batch_index);
//   constexpr auto sinks = learned<Heads>("sinks");
#pragma once
#include <algorithm>

#include "attune/tensor.h"

namespace attune {

struct int32 {};
struct float32 {};

template <Op Stored, Kind Element, long... D>
struct table_of {
  static constexpr Op stored = Stored;      // input or weight
  static constexpr Kind element = Element;  // integer or real
  static constexpr Type type{Element == Kind::integer ? Kind::integers : Kind::tensor, {int(sizeof...(D)), {D...}}};
  std::string_view name;

  // The element at these indices, one a dim. That they stay inside is checked where the scores are
  // known, by graph_of.
  template <operand... I>
  constexpr auto operator()(const I&... at) const {
    if constexpr ((is_poison<I> || ...)) {
      return poison{};
    } else if constexpr (sizeof...(I) != sizeof...(D)) {
      report<Rule::table_rank, Op::look_up, long(sizeof...(D)), long(sizeof...(I))>();
      return poison{};
    } else if constexpr (((type_of<I>().kind != Kind::integer) || ...)) {
      report<Rule::table_index_kind, Op::look_up, 0, 0, I...>();
      return poison{};
    } else {
      return looked_up<table_of, lifted<I>...>{*this, hana::tuple<lifted<I>...>{lift(at)...}};
    }
  }
};

template <Op Stored, Kind Element, long... D>
constexpr auto declared_table(std::string_view name) {
  if constexpr (sizeof...(D) < 1 || sizeof...(D) > std::size_t(max_rank)) {
    report<Rule::rank_of_table, Op::look_up, long(sizeof...(D))>();
    return poison{};
  } else if constexpr (constexpr long least = std::min({D...}); least < 1) {
    report<Rule::table_empty, Op::look_up, least>();
    return poison{};
  } else {
    return table_of<Stored, Element, D...>{name};
  }
}

// An argument of shape [D...], dense and row-major, whose elements are int32 or float32. The name is a C
// identifier that outlives the graph.
template <class Element, long... D>
constexpr auto table(std::string_view name) {
  if constexpr (!std::is_same_v<Element, int32> && !std::is_same_v<Element, float32>) {
    report<Rule::table_element, Op::look_up, 0, 0, Element>();
    return poison{};
  } else {
    return declared_table<Op::input, std::is_same_v<Element, int32> ? Kind::integer : Kind::real, D...>(name);
  }
}

// The same of float32 among the weights: learned<32, Heads>("bias")(bucket, head_index). Where an index is more
// than a sum of coordinates and their multiples, pack_weights looks it up once for every distance of a key from
// its query, if it depends on places by that alone, else for every pair.
template <long... D>
constexpr auto learned(std::string_view name) { return declared_table<Op::weight, Kind::real, D...>(name); }

}  // namespace attune
