#include "passes/distribute.h"

#include <vector>

#include "passes/rewrite.h"

namespace attune {
namespace {

// What multiplies all pairs of a row alike: a number, or a tensor whose last extent is 1.
bool factor_of_rows(const Node& n) { return n.op == Op::constant || (n.type.kind == Kind::tensor && n.type.dims[-1] == 1); }

bool combines(Op op) { return op == Op::add || op == Op::sub || op == Op::mul || op == Op::div; }

// Whether weights of a reduction stand below, through elementwise ops alone.
bool holds_weights(const Rewriter& r, int id) {
  const Node& n = r[id];
  if (n.op == Op::reduce_rows) return true;
  return combines(n.op) && n.type.kind == Kind::scores && (holds_weights(r, n.in[0]) || holds_weights(r, n.in[1]));
}

class Distributor {
 public:
  Distributor(Rewriter& r, const Node& product) : r_(r), product_(product) {}

  // The product, of `scores` with its second operand; -1 where these are no sums and multiples of reductions.
  int of(int scores) {
    const Node n = r_[scores];
    if (n.op == Op::reduce_rows) return of_weights(n);
    if (!combines(n.op)) return -1;
    if (n.op == Op::mul || n.op == Op::div) return of_multiple(n);
    Node result{n.op, product_.type, {}, n.in, product_.line};
    for (std::size_t i = 0; i < 2; ++i) {
      if (r_[n.in[i]].type != n.type) return -1;
      result.in[i] = of(n.in[i]);
      if (result.in[i] < 0) return -1;
    }
    return r_.add(result);
  }

 private:
  Rewriter& r_;
  const Node product_;
  struct Factor {
    Node node;
    std::size_t weights;  // which operand they are
  };
  std::vector<Factor> of_pairs_;  // those above, outermost first
  double constant_ = 1;           // and what multiplies all

  int of_weights(Node n) {
    if (constant_ != 1) n.in[3] = r_.add({Op::mul, {Kind::real, {}}, {}, operand_list({n.in[3], r_.constant(constant_, Kind::real, n.line)}), n.line});
    int weights = r_.add(n);
    for (auto f = of_pairs_.rbegin(); f != of_pairs_.rend(); ++f) {
      f->node.in[f->weights] = weights;
      weights = r_.add(f->node);
    }
    Node result = product_;
    result.in[0] = weights;
    return r_.add(result);
  }

  int of_multiple(const Node& n) {
    const std::size_t weights = holds_weights(r_, n.in[0]) ? 0 : 1;
    const int scores = n.in[weights], factor = n.in[1 - weights];
    if (r_[scores].type != n.type || !holds_weights(r_, scores) || holds_weights(r_, factor) || (n.op == Op::div && weights == 1)) return -1;
    if (r_[factor].op == Op::constant && n.op == Op::mul) {  // rides on the reduction's own scale
      const double before = constant_;
      constant_ *= r_[factor].type.kind == Kind::integer ? double(r_[factor].attr.count) : r_[factor].attr.value;
      const int result = of(scores);
      constant_ = before;
      return result;
    }
    if (factor_of_rows(r_[factor])) {
      Node result{n.op, product_.type, {}, n.in, product_.line};
      result.in[weights] = of(scores);
      return result.in[weights] < 0 ? -1 : r_.add(result);
    }
    of_pairs_.push_back({n, weights});
    const int result = of(scores);
    of_pairs_.pop_back();
    return result;
  }
};

int distribute(Rewriter& r, const Node& n) {
  if (n.op != Op::matmul || r[n.in[0]].type.kind != Kind::scores) return r.add(n);
  const int sum = Distributor(r, n).of(n.in[0]);
  return sum < 0 ? r.add(n) : sum;
}

}  // namespace

Graph distribute_products(const Graph& g) { return Rewriter::apply(g, distribute); }

}  // namespace attune
