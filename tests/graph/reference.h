// Attention written out as its formula says, in double: what the interpreter is tested against.
#pragma once
#include <attune/graph.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/interpret.h"

namespace reference {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr double unit = 0x1p-24;

struct Shape {
  long batch, heads, q_len, kv_len, key_dim, value_dim;
};

// q [batch, heads, q_len, key_dim], k [.., kv_len, key_dim], v [.., kv_len, value_dim].
// score(b, h, i, j, q.k) is -inf where the pair is removed.
struct Attention {
  Doubles y, bound;  // bound: NUMERICS' formula, with |scale| and |bias| as given to attention()
};
template <class Score>
Attention attention(const Shape& s, const Floats& q, const Floats& k, const Floats& v, Score score, double scale = 1, double bias = 0) {
  Attention r;
  for (long b = 0; b < s.batch; ++b)
    for (long h = 0; h < s.heads; ++h)
      for (long i = 0; i < s.q_len; ++i) {
        const long head = b * s.heads + h;
        Doubles weight;
        double sum = 0, largest = 0;
        long kept = 0;
        for (long j = 0; j < s.kv_len; ++j) {
          double dot = 0, size = 0;
          for (long d = 0; d < s.key_dim; ++d) {
            const double product = double(q[std::size_t((head * s.q_len + i) * s.key_dim + d)]) * double(k[std::size_t((head * s.kv_len + j) * s.key_dim + d)]);
            dot += product;
            size += std::abs(product);
          }
          const double e = score(b, h, i, j, dot);
          weight.push_back(std::exp(e));
          sum += weight.back();
          if (e == -infinity) continue;
          ++kept;
          largest = std::max(largest, std::abs(scale) * size + std::abs(bias));
        }
        for (long d = 0; d < s.value_dim; ++d) {
          double y = 0, size = 0;
          for (long j = 0; j < s.kv_len; ++j) {
            if (weight[std::size_t(j)] == 0) continue;
            const double term = weight[std::size_t(j)] / sum * double(v[std::size_t((head * s.kv_len + j) * s.value_dim + d)]);
            y += term;
            size += std::abs(term);
          }
          r.y.push_back(y);
          r.bound.push_back(16 * unit * (1 + largest) * size + 0x1p-126 * double(kept));
        }
      }
  return r;
}

// Activations N(0, 1), weights N(0, 1 / in_features).
inline attune::Bindings standard_inputs(const attune::Graph& g, unsigned seed) {
  std::mt19937 random(seed);
  attune::Bindings r;
  for (const attune::Node& n : g.nodes) {
    if (n.op != attune::Op::input && n.op != attune::Op::weight) continue;
    std::normal_distribution<float> normal(0, n.op == attune::Op::weight ? float(1 / std::sqrt(double(n.type.dims[-1]))) : 1.0f);
    Floats& values = r[std::string(n.attr.name)];
    for (long i = 0; i < n.type.dims.size(); ++i) values.push_back(normal(random));
  }
  return r;
}

inline attune::Array only_output(const attune::Graph& g, const attune::Bindings& b) { return attune::interpret_outputs(g, b).at(0); }

// The largest difference; NaN matches NaN alone.
inline double distance(const Doubles& a, const Doubles& b) {
  if (a.size() != b.size()) return infinity;
  double r = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double e = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
    r = std::isnan(e) ? infinity : std::max(r, e);
  }
  return r;
}

}  // namespace reference
