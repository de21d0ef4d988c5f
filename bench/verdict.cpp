#include "bench/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "bench/measure.h"

namespace attune::bench {
namespace {

constexpr int rounds = 9;

std::vector<double> ranks(const std::vector<double>& v) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return v[a] < v[b]; });
  std::vector<double> r(v.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && v[order[end]] == v[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) r[order[k]] = double(i + end - 1) / 2;
    i = end;
  }
  return r;
}

std::string words(const Choices& choices) {
  std::string r;
  for (const Choice& c : choices)
    if (!std::holds_alternative<std::monostate>(c)) r += fmt::format("{}{}", r.empty() ? "" : " | ", text_of(c));
  return r;
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = double(x.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Verdict judge(const Subject& subject, const std::string& isa, int candidates, unsigned seed, const Arena::Progress& progress) {
  const std::vector<Decision> all = decisions(subject.graph, isa, subject.machines);
  std::mt19937 random(seed);
  std::vector<Choices> drawn;
  std::vector<double> predicted;
  std::set<std::string> seen;
  for (int attempt = 0; int(drawn.size()) < candidates && attempt < 100 * candidates; ++attempt) {
    Choices choices;
    double cycles = 0;
    for (const Decision& d : all) {
      const Ranked& r = d.ranked[attempt == 0 ? 0 : random() % d.ranked.size()];
      decide(choices, d.region, r.choice);
      cycles += r.cycles;
    }
    if (!seen.insert(words(choices)).second) continue;
    drawn.push_back(std::move(choices));
    predicted.push_back(cycles);
  }
  Arena arena(subject, isa, progress);
  const std::vector<Measured> results = arena.measure(drawn, rounds, false);
  Verdict v;
  v.expression = subject.expression;
  v.first = words(drawn[0]);
  std::vector<double> model, time;
  double least = 0, most = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].failure.empty()) {
      v.failures.push_back(fmt::format("{}: {}", words(drawn[i]), results[i].failure));
      continue;
    }
    model.push_back(predicted[i]);
    time.push_back(results[i].time);
    most = std::max(most, results[i].time);
    if (least == 0 || results[i].time < least) {
      least = results[i].time;
      v.best = words(drawn[i]);
    }
  }
  v.candidates = time.size();
  if (time.empty() || !results[0].failure.empty()) return v;
  v.loss = results[0].time / least - 1;
  v.median_loss = median(time) / least - 1;
  v.spread = most / least;
  v.correlation = rank_correlation(model, time);
  return v;
}

}  // namespace attune::bench
