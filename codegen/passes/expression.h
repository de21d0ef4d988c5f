// From elementwise nodes of a graph to an Expression.
#pragma once
#include <functional>
#include <optional>
#include "passes/region.h"

namespace attune {

// Builds terms, equal ones once.
class ExpressionBuilder {
 public:
  int add(const Term&);
  int constant(double value, Kind = Kind::real);
  int coordinate(int which) { return add({Fn::coordinate, Kind::integer, 0, which, {}}); }
  int tensor(const View&, Kind = Kind::real);  // of four dims
  int apply(Fn, Kind, std::vector<int> operands);
  // The term for a node of an index expression, of a reduction's algebra included; `stored` says where
  // what a look_up reads lies, by coordinates.
  using Stored = std::function<View(int look_up)>;
  int index(const Graph&, int node, const Stored& stored);
  // Elementwise op of the graph on terms. Integer operands of a real op are converted where used.
  int elementwise(Op, Kind, std::vector<int> operands);
  Expression finish(int root);

 private:
  Expression e_;
};

// The element of a table, which lies at 0 of a buffer, as that of a tensor that lies as the coordinates go; none
// where an index is more than a sum of coordinates and their multiples.
std::optional<View> looked_up(const Graph&, int look_up);

Expression index_expression_of(const Graph&, int node, const ExpressionBuilder::Stored&);

// If the accumulator enters only as acc * constant: takes the factor out and returns it, else 1.
double extract_scale(Expression&);

}  // namespace attune
