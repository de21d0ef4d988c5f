// A node's value as the interpreter carries it, and the ops on it.
#pragma once
#include <vector>

#include "graph/expression.h"

namespace attune {

inline constexpr double f32_unit = 0x1p-24;           // half an ulp of 1
inline constexpr double f32_least_normal = 0x1p-126;  // what counts as 0 is less than this

// The error bound of an element is carried + rounding. An empty vector is all zero.
struct Value {
  Dims dims{};
  std::vector<double> v{};
  std::vector<double> carried{};         // scores: what the operands' bounds bring about; tensors: the whole bound
  std::vector<double> rounding{};        // scores and probabilities only: from the score's own evaluation
  std::vector<unsigned char> removed{};  // scores and probabilities only

  double carried_at(std::size_t i) const { return carried.empty() ? 0 : carried[i]; }
  double rounding_at(std::size_t i) const { return rounding.empty() ? 0 : rounding[i]; }
  double error_at(std::size_t i) const { return carried_at(i) + rounding_at(i); }
  bool removed_at(std::size_t i) const { return !removed.empty() && removed[i]; }
};

// f(coordinates, index) for every element of `dims`, in row-major order. A tensor of rank r has
// the last r coordinates.
template <class F>
void for_each_element(const Dims& dims, F f) {
  std::array<long, max_rank> d{1, 1, 1, 1};
  for (int i = 0; i < dims.rank; ++i) d[std::size_t(max_rank - dims.rank + i)] = dims[i];
  std::size_t index = 0;
  for (long b = 0; b < d[0]; ++b)
    for (long h = 0; h < d[1]; ++h)
      for (long q = 0; q < d[2]; ++q)
        for (long kv = 0; kv < d[3]; ++kv) f(Coordinates{b, h, q, kv, nullptr}, index++);
}

// Products (products.cpp).
Value linear(const Node&, const Value& x, const Value& weight, const Value* bias);
Value score_product(const Node&, const Value& a, const Value& b);  // two tensors: scores
Value weighted_sum(const Node&, const Value& p, const Value& v);   // scores and a tensor: skips removed pairs

// By angles of rows (rotary.cpp).
Value rope(const Graph&, int node, const Value& x, const Value* divisors, const Tables&);

// Row by row (rows.cpp).
Value inverse_norm(const Node&, const Value& x);
Value mask(const Graph&, const Node&, const Value& scores, const Tables&);
Value reduce_rows(const Graph&, int node, const Value& scores, const Tables&);
Value row_value(const Graph&, int node, const Value& scores, const Tables&);

// An elementwise op; an operand that is an index expression has no Value (elementwise.cpp).
Value elementwise(const Graph&, const Node&, const Value* a, const Value* b, const Tables&);

}  // namespace attune
