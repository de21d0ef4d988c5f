#include "cli/host/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace attune::host {

namespace {
const float nan = std::numeric_limits<float>::quiet_NaN();

const Dims& dims_of(const Interface& interface, const std::string& input) {
  return std::find_if(interface.inputs.begin(), interface.inputs.end(), [&](const Argument& a) { return a.name == input; })->dims;
}

void scale(Bindings& b, const std::vector<std::string>& names, double factor) {
  for (const std::string& n : names)
    for (float& x : b.find(n)->second) x = float(x * factor);
}

// Logits are bilinear in left and right: scales them by `factor`, through both sides where one input feeds both.
void scale_logits(Bindings& b, const Roles& r, double factor) {
  if (r.left == r.right)
    scale(b, r.left, std::sqrt(std::abs(factor)));
  else
    scale(b, r.left, factor);
}

// Calls f(x) for the features of row `row` of every head; a row counts from the end if negative.
template <class F>
void for_row(Bindings& b, const Interface& interface, const std::string& name, long row, F f) {
  const Dims& d = dims_of(interface, name);
  if (d.rank < 2 || d.size() == 0) return;
  const long seq = d[-2], width = d[-1], at = row < 0 ? row + seq : row;
  if (at < 0 || at >= seq) return;
  float* x = b.find(name)->second.data();
  for (long outer = 0; outer < d.size() / (seq * width); ++outer)
    for (long i = 0; i < width; ++i) f(x[(outer * seq + at) * width + i], i);
}
long seq_of(const Interface& interface, const std::string& name) {
  const Dims& d = dims_of(interface, name);
  return d.rank < 2 ? 0 : d[-2];
}

std::vector<std::string> both(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::set<std::string> s(a.begin(), a.end());
  s.insert(b.begin(), b.end());
  return {s.begin(), s.end()};
}
}  // namespace

double Normal::uniform() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return (double((state_ * 0x2545F4914F6CDD1Dull) >> 11) + 0.5) * 0x1p-53;
}
double Normal::operator()() {
  const double a = uniform(), b = uniform();
  return std::sqrt(-2 * std::log(a)) * std::cos(6.283185307179586 * b);
}

Bindings standard_inputs(const Interface& interface, std::uint64_t seed) {
  Normal normal(seed);
  Bindings b;
  for (const Argument& a : interface.inputs) {
    std::vector<float>& v = b[a.name];
    v.resize(std::size_t(a.dims.size()));
    for (float& x : v) x = a.integers ? float(std::floor(4 * std::abs(normal()))) : float(normal());
  }
  for (const Argument& a : interface.weights) {
    std::vector<float>& v = b[a.name];
    v.resize(std::size_t(a.dims.size()));
    const double sd = 1 / std::sqrt(double(std::max(1l, a.dims.rank ? a.dims[-1] : 1)));
    for (float& x : v) x = float(normal() * sd);
  }
  return b;
}

Roles roles_of(const Graph& g) {
  const auto inputs_under = [&](int root) {
    std::set<std::string> found;
    std::set<int> seen;
    std::vector<int> work{root};
    while (!work.empty()) {
      const int n = work.back();
      work.pop_back();
      if (n < 0 || !seen.insert(n).second || g[n].type.kind == Kind::scores || is_index(g[n].type.kind)) continue;
      if (g[n].op == Op::input) found.insert(std::string(g[n].attr.name));
      for (int i : g[n].in) work.push_back(i);
    }
    return found;
  };
  std::set<std::string> left, right, values;
  Roles r;
  for (const Node& n : g.nodes) {
    if (n.op == Op::mask) r.masked = true;
    if (n.op != Op::matmul) continue;
    if (n.type.kind == Kind::scores) {
      left.merge(inputs_under(n.in[0]));
      right.merge(inputs_under(n.in[1]));
    } else if (g[n.in[0]].type.kind == Kind::scores) {
      values.merge(inputs_under(n.in[1]));
    }
  }
  r.left.assign(left.begin(), left.end());
  r.right.assign(right.begin(), right.end());
  r.values.assign(values.begin(), values.end());
  return r;
}

std::vector<Case> check_cases(const Graph& g, const Interface& interface) {
  const Roles roles = roles_of(g);
  const Bindings standard = standard_inputs(interface);
  std::vector<Case> cases{{"standard", standard, true}};
  const auto add = [&](const char* name) -> Bindings& {
    cases.push_back({name, standard, true});
    return cases.back().values;
  };
  const auto every_input = [&](Bindings& b, auto f) {  // of floats
    for (const Argument& a : interface.inputs)
      if (!a.integers) std::for_each(b[a.name].begin(), b[a.name].end(), f);
  };
  if (!roles.left.empty()) {
    scale_logits(add("logits of sd 10"), roles, 10);
    Bindings& huge = add("one huge key");
    for (const std::string& n : roles.right) for_row(huge, interface, n, seq_of(interface, n) / 2, [](float& x, long) { x *= 100; });
    scale_logits(add("scale -1e4"), roles, -1e4);
  }
  every_input(add("all equal"), [](float& x) { x = 0.5f; });
  every_input(add("zeros"), [](float& x) { x = 0; });
  every_input(add("subnormals"), [i = 0](float& x) mutable { if (i++ % 2) x *= 0x1p-130f; });
  const auto every_integer = [&](Bindings& b, auto f) {
    for (const Argument& a : interface.inputs)
      if (a.integers) std::for_each(b[a.name].begin(), b[a.name].end(), f);
  };
  if (std::any_of(interface.inputs.begin(), interface.inputs.end(), [](const Argument& a) { return a.integers; })) {
    every_integer(add("integers of 16 bits"), [](float& x) { x *= 9973; });
    every_integer(add("negative integers"), [](float& x) { x = -1 - x; });
    every_integer(add("integers that seldom change"), [i = 0](float& x) mutable { x = float(i++ / 24); });
  }
  if (!roles.right.empty()) {
    Bindings& b = add("NaN in the last key");
    for (const std::string& n : both(roles.right, roles.values)) for_row(b, interface, n, -1, [](float& x, long) { x = nan; });
    cases.back().finite = false;
  }
  return cases;
}

std::vector<Case> bench_cases(const Graph& g, const Interface& interface) {
  const Roles roles = roles_of(g);
  if (!roles.separate()) return {};
  const Bindings standard = standard_inputs(interface);
  std::vector<Case> cases;
  const auto add = [&](const char* name) -> Bindings& {
    cases.push_back({name, standard, true});
    return cases.back().values;
  };
  const std::string &q = roles.left[0], &k = roles.right[0], &v = roles.values[0];
  const long head_dim = dims_of(interface, q)[-1], queries = seq_of(interface, q), keys = seq_of(interface, k);
  if (keys == 0) return {};
  scale_logits(add("logits of sd 10"), roles, 10);

  // Feature 0 of every q is sqrt(head_dim), so that feature 0 of a key adds itself to the scaled score.
  const auto first_feature = [&](Bindings& b, auto score) {
    for (long i = 0; i < queries; ++i) for_row(b, interface, q, i, [&](float& x, long d) { if (d == 0) x = float(std::sqrt(double(head_dim))); });
    for (long j = 0; j < keys; ++j) for_row(b, interface, k, j, [&](float& x, long d) { if (d == 0) x = float(score(j)); });
  };
  first_feature(add("a key at +60 near the end"), [&](long j) { return j == std::max(0l, keys - 8) ? 60 : 0; });
  first_feature(add("scores fall by 1 a key"), [](long j) { return -j; });
  if (roles.masked) {
    Bindings& b = add("NaN in the last eighth");
    for (long j = keys - std::max(1l, keys / 8); j < keys; ++j)
      for (const std::string& n : {k, v}) for_row(b, interface, n, j, [](float& x, long) { x = nan; });
    cases.back().finite = false;
  }
  Bindings& all = add("NaN in a feature of v, for all rows");
  for (long j = 0; j < keys; ++j) for_row(all, interface, v, j, [](float& x, long d) { if (d == 0) x = nan; });
  cases.back().finite = false;
  return cases;
}

}  // namespace attune::host
