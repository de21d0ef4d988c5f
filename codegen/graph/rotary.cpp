#include "graph/rotary.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "graph/value.h"

namespace attune {

static long double number_of_pair(const Graph& g, int node, long pair) {
  const Node& n = g[node];
  if (n.type.kind == Kind::integer) return (long double)integer_at(g, node, {.kv = pair});
  const auto operand = [&](int i) { return number_of_pair(g, n.in[std::size_t(i)], pair); };
  switch (n.op) {
    case Op::constant: return n.attr.value;
    case Op::add: return operand(0) + operand(1);
    case Op::sub: return operand(0) - operand(1);
    case Op::mul: return operand(0) * operand(1);
    case Op::div: return operand(0) / operand(1);
    case Op::min: return std::min(operand(0), operand(1));
    case Op::max: return std::max(operand(0), operand(1));
    case Op::tanh: return std::tanh(operand(0));
    case Op::exp: return std::exp(operand(0));
    case Op::log: return std::log(operand(0));
    default: throw std::logic_error("frequencies_of: not an expression of pair_index");
  }
}

std::vector<double> frequencies_of(const Graph& g, int node) {
  const Node& n = g[node];
  std::vector<double> r;
  for (long pair = 0; pair < n.attr.rotation.count(n.type.dims[-1]); ++pair) r.push_back(double(number_of_pair(g, n.in[1], pair)));
  return r;
}

Value rope(const Graph& g, int node, const Value& x, const Value* divisors, const Tables& tables) {
  const Node& n = g[node];
  const PairRotation& how = n.attr.rotation;
  const long head_dim = x.dims[-1], seq = x.dims[-2], pairs = how.count(head_dim);
  std::vector<double> frequency = frequencies_of(g, node);
  for (std::size_t i = 0; divisors && i < frequency.size(); ++i) frequency[i] /= divisors->v[i];
  const bool interleaved = how.pairs == Pairs::interleaved;
  Value r{x.dims, x.v, std::vector<double>(x.v.size())};
  for (std::size_t i = 0; i < r.v.size(); ++i) r.carried[i] = x.error_at(i);
  for (std::size_t first = 0; first < r.v.size(); first += std::size_t(head_dim)) {
    const long row = long(first) / head_dim;
    for (long pair = 0; pair < pairs; ++pair) {
      const long position = integer_at(g, n.in[2], {row / (seq * x.dims[1]), 0, row % seq, pair, &tables});
      const double angle = double(position) * frequency[std::size_t(pair)];
      const double c = how.amplitude * std::cos(angle), s = how.amplitude * std::sin(angle);
      const std::size_t i = first + std::size_t(interleaved ? 2 * pair : pair), j = first + std::size_t(interleaved ? 2 * pair + 1 : pair + pairs);
      r.v[i] = x.v[i] * c - x.v[j] * s;
      r.v[j] = x.v[i] * s + x.v[j] * c;
      // The table entry, the product and the sum are each rounded once, or flushed to 0.
      const auto error = [&](std::size_t k) { return x.error_at(k) + 4 * f32_unit * std::abs(x.v[k]) + 2 * f32_least_normal / how.amplitude; };
      r.carried[i] = std::abs(c) * error(i) + std::abs(s) * error(j);
      r.carried[j] = std::abs(s) * error(i) + std::abs(c) * error(j);
    }
  }
  return r;
}

}  // namespace attune
