// Interval analysis of an index expression: what it takes, and what a predicate keeps, over a block
// of scores. Bounds decide most blocks at once; the exact answers halve what bounds leave open.
#pragma once
#include <attune/graph.h>
#include <vector>

namespace attune {

// Bounds of a number; of a predicate [0, 0] never, [1, 1] always, [0, 1] perhaps.
struct IndexInterval {
  double lo = 0, hi = 0;
  constexpr bool operator==(const IndexInterval&) const = default;
};

// Half-open ranges of the coordinates of scores.
struct Block {
  long batch0 = 0, batch1 = 0, head0 = 0, head1 = 0, q0 = 0, q1 = 0, kv0 = 0, kv1 = 0;
};

enum class Kept : unsigned char { none, all, mixed };

// Analysis of one index expression of a graph. What a table holds is known at run time only: bounds
// and answers allow for any values of it, so that none and all hold for each. Integers are exact up to 2^53 in magnitude, beyond
// what any expression that passes fits_int32 can reach. It keeps its own copy of the expression.
class IndexAnalysis {
 public:
  // `node` is an index expression of coordinates: of kind integer, real or predicate.
  // Throws std::invalid_argument for any other op and for an integer divisor that isn't positive.
  IndexAnalysis(const Graph& graph, int node, long batches, long heads);

  // Contains every value in the (non-empty) block; [-inf, inf] also where a value may be NaN.
  IndexInterval interval(const Block&) const;
  // True proves that the block's coordinates and every integer sub-expression stay within int32.
  bool fits_int32(const Block&) const;

  // The rest is for predicates. An empty block keeps none.

  // By bounds alone: none and all are proofs, mixed means undecided.
  Kept classify(const Block&) const;
  // Exact where no table is read, else a proof; takes at worst time linear in the block's scores.
  Kept classify_exact(const Block&) const;
  bool at(long batch, long head, long q, long kv) const;
  // The smallest and the largest kv that some score of the block keeps, or may keep; -1 if there is none.
  long first_kept(const Block& b) const { return edge(b, true); }
  long last_kept(const Block& b) const { return edge(b, false); }
  // How many of the block's scores are kept, or may be.
  long count_kept(const Block&) const;

  // Whether the leaf, e.g. Op::head_index, occurs in the expression.
  bool depends_on(Op leaf) const;
  bool reads_tables() const { return steps_.back().unknown; }
  long batches() const { return batches_; }
  long heads() const { return heads_; }

 private:
  struct Term {
    double factor;
    int step;
  };
  struct Step {  // a node of the expression, operands before users
    Op op{};
    Kind kind{};
    int x = -1, y = -1;
    double value = 0;     // of a constant
    unsigned leaves = 0;  // set of the coordinates below
    bool unknown = false; // a table is read below
    // Bounds of operands that share a term count it twice, as in (q_index + 4) - q_index. So an
    // integer sum or a comparison of such operands also knows its value (of a comparison: left
    // minus right) as offset + the sum of its terms.
    bool shares = false;
    double offset = 0;
    std::vector<Term> terms{};
  };
  struct Bounds {
    double lo, hi;
    bool nan = false;  // the value may be NaN
  };
  template <int Width> class Rows;

  void find_shared_terms();
  static Bounds sum_of(const Step&, const std::vector<Bounds>& all);
  static Bounds bounds(const Step&, const std::vector<Bounds>& all, const Block&);
  std::vector<Bounds> all_bounds(const Block&) const;
  Block without_repeats(Block) const;
  long edge(const Block&, bool first) const;

  std::vector<Step> steps_;
  long batches_, heads_;
};

}  // namespace attune
