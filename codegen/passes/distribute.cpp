#include "passes/distribute.h"

#include "passes/rewrite.h"

namespace attune {
namespace {

// What multiplies all pairs of a row alike: a number, or a tensor whose last extent is 1.
bool factor_of_rows(const Node& n) { return n.op == Op::constant || (n.type.kind == Kind::tensor && n.type.dims[-1] == 1); }

// `product`, of `scores` with its second operand; -1 where these are no sums and multiples of reductions.
int distributed(Rewriter& r, const Node& product, int scores) {
  const Node n = r[scores];
  Node result = product;
  if (n.op == Op::reduce_rows) {
    result.in[0] = scores;
    return r.add(result);
  }
  result = {n.op, product.type, {}, n.in, product.line};
  if (n.op == Op::mul) {
    const std::size_t factor = factor_of_rows(r[n.in[0]]) ? 0 : 1;
    if (!factor_of_rows(r[n.in[factor]])) return -1;
    result.in[1 - factor] = distributed(r, product, n.in[1 - factor]);
    return result.in[1 - factor] < 0 ? -1 : r.add(result);
  }
  if (n.op != Op::add && n.op != Op::sub) return -1;
  for (std::size_t i = 0; i < 2; ++i) {
    if (r[n.in[i]].type != n.type) return -1;
    result.in[i] = distributed(r, product, n.in[i]);
    if (result.in[i] < 0) return -1;
  }
  return r.add(result);
}

int distribute(Rewriter& r, const Node& n) {
  if (n.op != Op::matmul || r[n.in[0]].type.kind != Kind::scores) return r.add(n);
  const int sum = distributed(r, n, n.in[0]);
  return sum < 0 ? r.add(n) : sum;
}

}  // namespace

Graph distribute_products(const Graph& g) { return Rewriter::apply(g, distribute); }

}  // namespace attune
