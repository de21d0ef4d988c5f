// What the passes make of a graph: a list of regions, each of which becomes one loop nest. From
// here on nothing knows the ops of the language, only contractions, streams, elementwise
// expressions and index maps.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <variant>
#include "passes/view.h"

namespace attune {

// Every region computes over four coordinates, outermost first.
inline constexpr int region_rank = 4;

enum class Fn : unsigned char {
  constant, coordinate, tensor,
  acc,                    // the accumulator of the contraction, or the element that is reduced
  peak, old_peak, total,  // the state of a row's reduction
  add, sub, mul, div, floor_div, floor_mod, min, max, exp, log, tanh,
  less, less_equal, equal, both, either, negation, select,
  partner,                // the other element of a pair along the last coordinate
};

struct Term {
  Fn fn = Fn::constant;
  Kind kind = Kind::real;  // integer, real or predicate
  double value = 0;        // constant
  long index = 0;          // coordinate: which; tensor: which; partner: distance, 0 for the neighbour in (2i, 2i+1)
  std::vector<int> in;
  bool operator==(const Term&) const = default;
};

// A function of one element: its coordinates, tensors read there, and the leaves above.
struct Expression {
  std::vector<Term> terms;    // operands stand before users; the last is the result
  std::vector<View> tensors;  // each of four dims
  int root() const { return int(terms.size()) - 1; }
  bool operator==(const Expression&) const = default;
  bool uses(Fn) const;
  bool is(Fn f) const { return !terms.empty() && terms.back().fn == f; }
};

struct Buffer {
  enum class Kind { input, output, scratch, weight, table };  // table: what an Angles or a Spread makes once
  Kind kind = Kind::scratch;
  std::string name;
  long floats = 0;
  bool integers = false;  // input: of int32, as many as floats
  // weight: stored transposed, [in, out]
  bool transposed = false;
  long width = 0;  // weight: of the last dim
};

// 1 / sqrt(max(factor * sum_col x^2 + added, least)) of a row, summed in double.
struct InverseNorm {
  double factor = 1, added = 0, least = 0;
};

// out[c0, c1, row, col] = f(sum_k a[c0, c1, row, k] * weight[col, k]). With groups > 1, c1 counts
// the groups of columns, and a has no c1.
struct Segment {
  std::string weight;
  long groups = 1, width = 0;  // columns = groups * width
  Expression epilogue;
  View out;
  // What replaces the elements of a group's row once it is complete: of acc, the element, and total, the norm of the row.
  struct Finish {
    InverseNorm norm;
    Expression value;
  };
  std::optional<Finish> finish = {};
};
struct Contract {
  View a;
  long outer0 = 1, outer1 = 1, rows = 0, depth = 0;
  std::vector<Segment> segments;  // they share one pass over a
};

// The algebra of a row's reduction; see dsl/attune/reduction.h.
struct RowAlgebra {
  Expression weight, rescale, scale;
  bool tracks_peak = false;
  // The peak cancels in weight * scale: any reference will do that keeps the weights in range.
  bool peak_cancels = false;
};

// Where a pair counts: an index expression of the graph, for analysis, and the same as code.
struct Predicate {
  std::shared_ptr<const Graph> graph;
  int node = -1;
  Expression code;
  bool at_run_time = false;  // it reads tables, so that no analysis knows all that it removes
};

// A number a row beside the weighted sums: of the state of the row's reduction and of where the row is.
// Of a row that nothing counts in, it is that of total 0 and peak `peak_of_nothing`.
struct RowValue {
  Expression value;
  double peak_of_nothing = 0;
};
struct RowOutput {
  RowValue value;
  View out;  // of three dims
};

// sum_k a[c0, c1, row, k] * b[c0, c1, col, k].
struct Dot {
  View a, b;
  long depth = 0;
};

// out[c0, c1, row, n] = sum_col factored(w(row, col)) v[c0, c1, col, n], where w reduces
// element(scale * the sum of the dots of row and col) over col.
struct Stream {
  std::vector<Dot> dots;
  View v, out;
  long outer0 = 1, outer1 = 1, rows = 0, cols = 0;
  long depth = 0;  // of all dots together
  long width = 0;  // of v; 0: only row values are wanted, and v and out have no columns
  double scale = 1;
  Expression element;
  std::optional<Predicate> keep;
  RowAlgebra algebra;
  Expression factored;  // what a weight, acc, that the row's total has taken is when it meets the values: linear in acc
  std::vector<RowOutput> values;
  Expression after;  // what replaces acc, an element of out, once its block of rows is done; without terms: nothing
};

// Of every row the cosines and sines of its pairs' angles: out[c0, -, row, at(i)] = amplitude *
// cos(position * frequency[i]), then as many sines with the sign of their place. In double, each entry
// rounded once.
struct Angles {
  std::vector<Expression> positions;   // integers, of c0 and row
  std::vector<long> place;             // which of them is each pair's
  std::vector<double> frequencies;     // one a pair
  std::string divisors;                // a weight that divides them; empty: none
  double amplitude = 1;
  bool neighbours = true;              // pairs (2i, 2i+1), else (i, i + pairs)
  View out;                            // of the cosines; its buffer is a table where nothing depends on the call
  bool operator==(const Angles&) const = default;
};

// Made once: out[c0, c1, row, col] = the element `at` of a weight, an integer expression of `first` and so far on.
struct Spread {
  std::string weight;
  Expression at;
  std::array<long, region_rank> first{};
  View out;
};

struct Pointwise {
  Expression value;
  View out;
};

// Plain loops, for what no fused region covers, and for the reference.
struct Product {
  View a, b, out;  // [.., i, k] x [.., k, j] -> [.., i, j]
  std::optional<View> bias;
  bool skip_zeros = false;  // a zero of a is a removed pair: what b holds there does not count
};
// out[c0, c1, row, 0] = the norm of in[c0, c1, row, ..].
struct RowNorm {
  View in, out;  // in: its columns lie one behind the other
  InverseNorm norm;
};
struct RowReduce {
  View in, out;  // the weights, as `in` has scores; or a number a row
  RowAlgebra algebra;
  std::optional<RowValue> value = {};  // the number, if it is that
};

struct Region {
  std::string title;  // names the region in the generated text
  std::string comment;
  std::variant<Contract, Stream, Pointwise, Product, RowReduce, RowNorm, Angles, Spread> work;
};

// Floating-point operations of one call: 2 per multiply-add, of pairs only those that count. 0 of regions
// other than contractions and streams.
double flops_of(const Region&);

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Region> regions;
};

}  // namespace attune
