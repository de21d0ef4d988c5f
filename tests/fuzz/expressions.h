// Random index expressions, and the algebras of row reductions.
#pragma once
#include "fuzz/builder.h"
#include "fuzz/random.h"

namespace attune::fuzz {

// The extents that coordinates run over.
struct Extents {
  long batch, heads, q, kv;
};

// Operands stand in braces, which are evaluated from left to right: so a seed means the same graph
// under every compiler.
class Expressions {
 public:
  Expressions(Builder& b, Random& r) : b_(b), r_(r) {}

  // Real numbers in predicates are made of dyadic constants by + - *, so that f32 and double decide alike.
  int predicate(const Extents&, int depth = 3);
  // A real function of the coordinates, of moderate size.
  int bias(const Extents&);

  // The operands of reduce_rows behind the scores: weight, rescale, scale.
  std::vector<int> algebra();
  int row_value(const std::vector<int>& algebra);  // of what such a reduction has carried

 private:
  int integer(const Extents&, int depth);
  int looked_up(const Extents&, Kind element);
  int comparison(const Extents&, int depth);
  int pattern(const Extents&);
  int q() { return b_.leaf(Op::q_index); }
  int kv() { return b_.leaf(Op::kv_index); }
  int coordinate() { return b_.leaf(r_.of({Op::q_index, Op::q_index, Op::kv_index, Op::kv_index, Op::kv_index, Op::head_index, Op::batch_index})); }

  Builder& b_;
  Random& r_;
};

}  // namespace attune::fuzz
