#include "numerics/specs.h"

namespace numerics {

std::vector<Masked> masked_specs() {
  std::vector<Masked> r;
  r.push_back({attention<1, 2, 2, 17, 33, 24, 24>("full", full), [](long, long, long, long) { return true; }, 17, 33});
  r.push_back({attention<2, 4, 2, 63, 63, 40, 40>("causal", causal), [](long, long, long i, long j) { return j <= i; }, 63, 63});
  r.push_back({attention<1, 2, 1, 20, 52, 16, 16>("top_left", causal), [](long, long, long i, long j) { return j <= i; }, 20, 52});
  r.push_back({attention<1, 2, 1, 20, 52, 16, 40>("corner", bottom_right<32>), [](long, long, long i, long j) { return j <= i + 32; }, 20, 52});
  r.push_back({attention<1, 1, 1, 137, 137, 64, 64>("window", window<31>), [](long, long, long i, long j) { return j <= i && i - j < 31; }, 137, 137});
  r.push_back({attention<1, 2, 2, 90, 90, 17, 17>("holes", global_and_window<9, 3>), [](long, long, long i, long j) { return j <= i && (j < 3 || i - j < 9); }, 90, 90});
  r.push_back({attention<1, 1, 1, 41, 41, 8, 8>("dilated", dilated<3>), [](long, long, long i, long j) { return j <= i && (i - j) % 3 == 0; }, 41, 41});
  // Rows 0..4 keep nothing; batch 1 is two keys shorter than batch 0.
  r.push_back({attention<2, 3, 3, 26, 37, 12, 20>("empty_rows", [](auto s) { return mask(s, kv_index + 5 <= q_index && kv_index + 2 * batch_index < 15); }),
               [](long b, long, long i, long j) { return j + 5 <= i && j + 2 * b < 15; }, 26, 37});
  return r;
}

std::vector<Spec> specs_of(const std::vector<Masked>& masked) {
  std::vector<Spec> r;
  for (const Masked& m : masked) r.push_back(m.spec);
  return r;
}

}  // namespace numerics
