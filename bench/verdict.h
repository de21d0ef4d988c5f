// The cost model against measurement.
#pragma once
#include "bench/candidates.h"

namespace attune::bench {

struct Verdict {
  std::string expression;
  std::size_t candidates = 0;  // that were measured
  double loss = 0;             // of the model's first against the best that was measured: 0.03 is 3 % more time
  double median_loss = 0;      // of the median candidate
  double spread = 0;           // the slowest's time / the fastest's
  double correlation = 0;      // Spearman's, of predicted and measured times
  std::string first, best;     // the choices in words
  std::vector<std::string> failures;
  bool wide() const { return spread >= 1.3; }  // else their order says little, and is not judged
  bool ok() const { return loss <= 0.08 && (correlation >= 0.7 || !wide()) && failures.empty(); }
};

// Measures the model's first and `candidates` - 1 others, drawn by `seed` from all that are legal.
Verdict judge(const Subject&, const std::string& isa, int candidates, unsigned seed, const Arena::Progress&);

// Spearman's rank correlation; equal values share the mean of their ranks.
double rank_correlation(const std::vector<double>&, const std::vector<double>&);

}  // namespace attune::bench
