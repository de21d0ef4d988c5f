// Projections and matrix products. Every bound is itself a product of magnitudes, and of what each
// step of a sum may flush to 0.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "graph/value.h"

namespace attune {

namespace {

using Numbers = std::vector<double>;

// sum [n] += a[0] x0 + .. + a[3] x3. Strips of eight have a constant trip count, which the
// compiler vectorises at -O2; four rows at once save loads and stores of the sum.
void add_four(long n, const double* a, const double* const* x, double* __restrict sum) {
  const double* __restrict x0 = x[0];
  const double* __restrict x1 = x[1];
  const double* __restrict x2 = x[2];
  const double* __restrict x3 = x[3];
  const auto one = [&](long i) { sum[i] += (a[0] * x0[i] + a[1] * x1[i]) + (a[2] * x2[i] + a[3] * x3[i]); };
  long i = 0;
  for (; i + 8 <= n; i += 8)
    for (long lane = 0; lane < 8; ++lane) one(i + lane);
  for (; i < n; ++i) one(i);
}

// c [m, n] += a [m, k] b [k, n]; pairs (row, k) whose `skip` is set add nothing.
void add_product(long m, long k, long n, const double* a, const double* b, double* c, const unsigned char* skip = nullptr) {
  const Numbers zeros(std::size_t(n), 0.0);
  for (long row = 0; row < m; ++row) {
    double factors[4];
    const double* rows[4];
    int waiting = 0;
    for (long i = 0; i < k; ++i) {
      if (skip && skip[row * k + i]) continue;
      factors[waiting] = a[row * k + i];
      rows[waiting] = b + i * n;
      if (++waiting == 4) add_four(n, factors, rows, c + row * n), waiting = 0;
    }
    if (!waiting) continue;
    for (; waiting < 4; ++waiting) factors[waiting] = 0, rows[waiting] = zeros.data();
    add_four(n, factors, rows, c + row * n);
  }
}

Numbers magnitudes(const Numbers& x) {
  Numbers r(x.size());
  std::transform(x.begin(), x.end(), r.begin(), [](double e) { return std::abs(e); });
  return r;
}

Numbers errors(const Value& x) {
  Numbers r(x.v.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = x.error_at(i);
  return r;
}

bool exact(const Value& x) { return x.carried.empty() && x.rounding.empty(); }

Numbers plus(const Numbers& x, const Numbers& y) {
  Numbers r(x.size());
  std::transform(x.begin(), x.end(), y.begin(), r.begin(), std::plus<>());
  return r;
}

// f(offset in a, in b, in the result) for each pair of matrices of a [.., m, k] and b [.., k, n].
template <class F>
void for_each_matrix(const Dims& a, const Dims& b, F f) {
  const long m = a[-2], k = a[-1], n = b[-1];
  for (long i = 0; i < a[0] * a[1]; ++i) f(i * m * k, i * k * n, i * m * n);
}

}  // namespace

Value linear(const Node& node, const Value& x, const Value& weight, const Value* bias) {
  const long in = x.dims[-1], out = node.type.dims[-1], rows = in ? x.dims.size() / in : 0;
  Numbers w(weight.v.size()), w_error(weight.v.size());  // transposed, [in, out]
  for (long o = 0; o < out; ++o)
    for (long i = 0; i < in; ++i) {
      w[std::size_t(i * out + o)] = weight.v[std::size_t(o * in + i)];
      w_error[std::size_t(i * out + o)] = weight.error_at(std::size_t(o * in + i));
    }
  const Numbers x_size = magnitudes(x.v), w_size = magnitudes(w), x_error = errors(x);

  Value r{node.type.dims, Numbers(std::size_t(rows * out)), Numbers(std::size_t(rows * out), f32_least_normal * double(in + 1))};
  add_product(rows, in, out, x.v.data(), w.data(), r.v.data());
  Numbers per_weight(x_size.size());  // what each |w| adds to the bound
  for (std::size_t i = 0; i < per_weight.size(); ++i) per_weight[i] = 8 * f32_unit * std::sqrt(double(in)) * x_size[i] + x_error[i];
  add_product(rows, in, out, per_weight.data(), w_size.data(), r.carried.data());
  if (!exact(weight)) add_product(rows, in, out, plus(x_size, x_error).data(), w_error.data(), r.carried.data());
  if (bias)
    for (std::size_t i = 0; i < r.v.size(); ++i) {
      const std::size_t o = i % std::size_t(out);
      r.v[i] += bias->v[o];
      r.carried[i] += 8 * f32_unit * std::abs(bias->v[o]) + bias->error_at(o);
    }
  return r;
}

Value score_product(const Node& node, const Value& a, const Value& b) {
  const long m = a.dims[-2], k = a.dims[-1], n = b.dims[-1];
  const std::size_t size = std::size_t(node.type.dims.size());
  const Numbers a_size = magnitudes(a.v), b_size = magnitudes(b.v);
  Numbers a_scaled = a_size;
  for (double& e : a_scaled) e *= 16 * f32_unit;

  Value r{node.type.dims, Numbers(size), {}, Numbers(size, f32_least_normal * double(k + 1)), std::vector<unsigned char>(size)};
  for_each_matrix(a.dims, b.dims, [&](long at_a, long at_b, long at_r) {
    add_product(m, k, n, a.v.data() + at_a, b.v.data() + at_b, r.v.data() + at_r);
    add_product(m, k, n, a_scaled.data() + at_a, b_size.data() + at_b, r.rounding.data() + at_r);
  });
  if (!exact(a) || !exact(b)) {
    const Numbers a_error = errors(a), b_error = errors(b), a_most = plus(a_size, a_error);
    r.carried.resize(size);
    for_each_matrix(a.dims, b.dims, [&](long at_a, long at_b, long at_r) {
      add_product(m, k, n, a_most.data() + at_a, b_error.data() + at_b, r.carried.data() + at_r);
      add_product(m, k, n, a_error.data() + at_a, b_size.data() + at_b, r.carried.data() + at_r);
    });
  }
  for (std::size_t i = 0; i < size; ++i) r.removed[i] = r.v[i] == -HUGE_VAL;
  return r;
}

Value weighted_sum(const Node& node, const Value& p, const Value& v) {
  const long m = p.dims[-2], k = p.dims[-1], n = v.dims[-1];
  const std::size_t size = std::size_t(node.type.dims.size());
  const Numbers v_size = magnitudes(v.v), v_error = errors(v), p_error = errors(p), p_most = plus(magnitudes(p.v), p_error);

  Value r{node.type.dims, Numbers(size), Numbers(size)};
  std::vector<unsigned char> weightless = p.removed;  // a score of -inf that was never reduced is a number like any other
  for (std::size_t i = 0; i < weightless.size(); ++i) weightless[i] = weightless[i] && p.v[i] == 0;
  for_each_matrix(p.dims, v.dims, [&](long at_p, long at_v, long at_r) {
    const unsigned char* skip = weightless.data() + at_p;
    double* bound = r.carried.data() + at_r;
    add_product(m, k, n, p.v.data() + at_p, v.v.data() + at_v, r.v.data() + at_r, skip);
    add_product(m, k, n, p_error.data() + at_p, v_size.data() + at_v, bound, skip);
    if (!exact(v)) add_product(m, k, n, p_most.data() + at_p, v_error.data() + at_v, bound, skip);
    for (long row = 0; row < m; ++row) {
      const double least = f32_least_normal * double(std::count(skip + row * k, skip + (row + 1) * k, 0));
      for (long i = 0; i < n; ++i) bound[row * n + i] += least;
    }
  });
  return r;
}

}  // namespace attune
