// What a predicate keeps of a score matrix, block by block: the runs of kv that a streaming kernel
// visits for each block of rows, and affine formulas for their bounds.
#pragma once
#include <string>
#include <vector>
#include "passes/predicate.h"

namespace attune {

// The blocks of [begin, end) of kv are kept whole, or in part.
struct Run {
  long begin = 0, end = 0;
  Kept kept = Kept::all;  // all or mixed
  constexpr bool operator==(const Run&) const = default;
};

// The runs of the rows [q0, q1), over all batches and heads, in ascending order. Every block of
// `step` kv (the last may be shorter) that keeps anything is in one; neighbours that are kept alike are
// merged. step >= 1.
std::vector<Run> runs_of(const IndexAnalysis&, long q0, long q1, long kv_len, long step);

struct BlockMap {
  long q_step = 0, kv_step = 0, q_len = 0, kv_len = 0;
  std::vector<std::vector<Run>> rows;  // [ceil(q_len / q_step)]
};
BlockMap block_map(const IndexAnalysis&, long q_len, long kv_len, long q_step, long kv_step);

// A bound that needs no table: clamp(step * i + offset, 0, limit).
struct Affine {
  long step = 0, offset = 0, limit = 0;
  bool exact = false;  // it reproduces every value it was fitted to
  constexpr long operator()(long i) const {
    const long v = step * i + offset;
    return v < 0 ? 0 : v > limit ? limit : v;
  }
};

// The Affine with values[i] at each i if there is one, else one that is not exact.
Affine fit_affine(const std::vector<long>& values, long limit);

// How many scores of [batches, heads, q_len, kv_len] are kept, exactly.
long kept_pairs(const IndexAnalysis&, long batches, long heads, long q_len, long kv_len);

// The rows, ascending, that keep nothing in some batch and head.
std::vector<int> rows_without_any(const IndexAnalysis&, long q_len, long kv_len);

// The blocks as a matrix.
std::vector<std::vector<Kept>> blocks_of(const BlockMap&);

// How many of them.
struct BlockCounts {
  long all = 0, mixed = 0, none = 0;
  long blocks() const { return all + mixed + none; }
  long computed() const { return all + mixed; }
};
BlockCounts count_blocks(const BlockMap&);

// A picture for people, at most 64 columns wide: # kept whole, + in part, . not at all, each a square
// of blocks if there are more; below it the share of each among the blocks, and of those computed.
std::string draw(const BlockMap&);

}  // namespace attune
