// What a stream takes by the model: the tiles that its code computes, counted as it visits them.
#include <algorithm>
#include <bit>
#include <numeric>

#include "schedule/planners.h"

namespace attune {
namespace {

constexpr long line = 64, sets = 64;  // of L1: what the offset in a page can tell

// Bytes of L1 that pieces of `bytes` every `stride` bytes keep for themselves: where the stride makes them
// share sets, those sets whole.
long footprint(long count, long bytes, long stride) {
  const long lines = (bytes + line - 1) / line;
  if (stride % line) return count * lines * line;
  const long apart = std::gcd(stride / line, sets);  // only one set in so many begins a piece
  return count * std::max(lines, apart) * line;
}

// How many of so many loads of `bytes` bytes lie on two lines, with rows of a stride one below the other.
long splits(long loads, long bytes, long stride) {
  const long step = std::gcd(stride, line), places = line / step;
  long split = 0;
  for (long at = 0; at < line; at += step) split += at + bytes > line;
  return loads * split / places;
}

// Tensors with an element for each pair, which lie along the columns.
long tensors_of_pairs(const Expression& e) {
  return std::count_if(e.tensors.begin(), e.tensors.end(), [](const View& v) { return stride_of(v.dims[2]).value_or(0) > 1 && stride_of(v.dims[3]) == 1; });
}

}  // namespace

// Whether columns and values are gone from L2 when the next block of rows comes.
bool StreamPlanner::beyond_l2() const { return 4 * s_.cols * (s_.depth + s_.width) > isa_.machine.l2_bytes / 2; }
static bool in_lines(const View& v) { return stride_of(v.dims[3]) == 1; }
bool StreamPlanner::asks_ahead() const {
  return beyond_l2() && std::all_of(s_.dots.begin(), s_.dots.end(), [](const Dot& d) { return in_lines(d.b); });
}

// Whether what the stream touches is half of L2 or more: much of it comes from beyond then, since others use L2
// between two calls.
bool StreamPlanner::asks_next() const {
  const bool all = std::all_of(s_.dots.begin(), s_.dots.end(), [](const Dot& d) { return in_lines(d.a) && in_lines(d.b); });
  return all && 8 * s_.outer0 * s_.outer1 * (s_.rows + s_.cols) * (s_.depth + s_.width) >= isa_.machine.l2_bytes;
}

// The columns outside of which so many rows from `row` on keep nothing, as the tiles of values know it.
std::pair<long, long> StreamPlanner::ends(long row, long rows) const {
  if (!hull_.row_hull) return {0, s_.cols};
  const auto& [low, high] = *hull_.row_hull;
  const long last = row + rows - 1;
  return {std::min(low.of_row(row), low.of_row(last)), std::max(high.of_row(row), high.of_row(last))};
}

void StreamPlanner::count_tiles(Covered& c) const {
  const RowBlocks& b = c.blocks;
  for (long i = 0; i < b.count; ++i) {
    c.runs.push_back(visited(b.runs, i, s_.cols));
    const long vector = (b.first_row + i * b.rows) / isa_.lanes;
    for (const Run& r : c.runs.back()) {
      const long left = (r.end - r.begin) % b.tile.rows;
      if (r.kept == Kept::all) {
        if (r.end - r.begin > left) c.whole[{b.tile.rows, b.tile.vectors}] += (r.end - r.begin) / b.tile.rows;
        if (left) ++c.whole[{int(left), b.tile.vectors}];
        continue;
      }
      for (long col = r.begin; col < r.end; col += b.tile.rows) {
        const long end = std::min(col + b.tile.rows, r.end);
        long first = b.tile.vectors, last = -1;  // vectors of rows that keep some of these columns
        for (long v = 0; v < b.tile.vectors; ++v) {
          const long low = hull_.hull ? hull_.hull->low(vector + v) : 0, high = hull_.hull ? hull_.hull->high(vector + v) : s_.cols;
          if (col >= high || end <= low) continue;
          first = std::min(first, v);
          last = v;
        }
        if (first <= last) ++c.part[{int(end - col), int(last - first + 1)}];
      }
    }
  }
}

const std::map<int, long>& StreamPlanner::value_steps(Covered& c, int rows) const {
  const auto [at, fresh] = c.value_steps.try_emplace(rows);
  if (!fresh) return at->second;
  const Cut parts = cut(c.blocks.rows, rows);
  for (long i = 0; i < c.blocks.count; ++i) {
    long row = c.blocks.first_row + i * c.blocks.rows;
    for (long k = 0; k < parts.taller + parts.others; ++k) {
      const long height = parts.height + (k < parts.taller);
      const auto [low, high] = ends(row, height);
      for (const Run& r : c.runs[std::size_t(i)]) at->second[int(height)] += std::max(0L, std::min(r.end, high) - std::max(r.begin, low));
      row += height;
    }
  }
  return at->second;
}

// Columns that blocks of rows visit, each as often as it is visited.
long StreamPlanner::seen_by_all(const Covered& c) {
  long n = 0;
  for (const auto& runs : c.runs)
    for (const Run& r : runs) n += r.end - r.begin;
  return n;
}

// Blocks of columns that all blocks of rows visit.
long StreamPlanner::visits(const Covered& c, long columns) const {
  long n = 0;
  for (const auto& runs : c.runs) {
    if (runs.empty()) continue;
    if (c.blocks.runs.form != RunPlan::Form::table)
      n += (runs.back().end - runs[0].begin + columns - 1) / columns;
    else
      for (const Run& r : runs) n += (r.end - r.begin + columns - 1) / columns;
  }
  return n;
}

// Columns of a visit, on average: a triangle's first blocks of rows see few.
long StreamPlanner::columns_of_visit(const Covered& c, long columns) const {
  const long n = visits(c, columns);
  return n ? (seen_by_all(c) + n - 1) / n : 0;
}

// Whether a block of rows sees all of its columns in one block of columns.
bool StreamPlanner::one_visit(const Covered& c, long columns) const { return s_.cols > 0 && columns >= s_.cols && c.blocks.runs.form != RunPlan::Form::table; }

// Scores and weights of all blocks of one kind.
Account StreamPlanner::scores(const Covered& c, long columns) const {
  const Machine& m = isa_.machine;
  Clerk clerk(m);
  const long floats = long(c.blocks.tile.vectors) * isa_.lanes, l1 = m.l1_bytes;
  const long turned = 4 * s_.depth * floats, block = 4 * columns_of_visit(c, columns) * floats;
  const bool near = 4 * s_.cols * s_.depth <= m.l1_bytes / 2, far = beyond_l2(), asked = far && asks_ahead();
  // The sum of the weights is one more operation; what is subtracted from a score is in the sums already.
  const long weight = slots_of(s_.element, m) + m.exponential * std::count_if(s_.algebra.weight.terms.begin(), s_.algebra.weight.terms.end(), [](const Term& t) { return t.fn == Fn::exp; }) + 100;
  const auto tiles = [&](const std::map<std::pair<int, int>, long>& some, long of_each, long tensors) {
    for (const auto& [shape, count] : some) {
      const Tile t{shape.first, shape.second};
      // Four columns of a tensor of pairs are loaded at once, and turned; others lane by lane.
      const long slots = of_each + tensors * isa_.lanes * (50 * (t.rows / 4 * 4) + 200 * (t.rows % 4)) / t.rows;
      const long read = 4 * s_.depth * t.rows, written = 4 * t.rows * t.vectors * isa_.lanes;
      long l2 = turned + read + written > l1 ? 4 * s_.depth * t.vectors * isa_.lanes : 0;  // the turned rows again
      if (turned + read + block > l1) l2 += 2 * written;
      if (!near && !far) l2 += read;
      const long beyond = asked ? read + 4 * s_.width * t.rows : far ? read : 0;  // what is asked for is the next columns and their values
      clerk.steps(t, count * s_.depth, {.slots = count * t.rows * t.vectors * slots, .l2 = count * l2, .memory = count * beyond, .asked = asked ? count * beyond : 0});
    }
  };
  const long biases = tensors_of_pairs(s_.element) + tensors_of_pairs(s_.factored);
  tiles(c.whole, weight, biases);
  tiles(c.part, weight + (s_.keep ? slots_of(s_.keep->code, m) + 100 : 0), biases + (s_.keep ? tensors_of_pairs(s_.keep->code) : 0));
  // How many vectors of a tile keep something is asked of each; the others' weights are set to 0.
  for (const auto& [shape, count] : c.part) clerk.tiles({shape.first, c.blocks.tile.vectors - shape.second}, count);
  if (s_.algebra.tracks_peak) clerk.tiles(c.blocks.tile, 2 * c.blocks.count);   // the first tile of a block waits for its peaks
  if (c.blocks.runs.form == RunPlan::Form::edges && s_.algebra.tracks_peak) {  // and is computed twice where a block begins in part
    const long twice = std::count_if(c.runs.begin(), c.runs.end(), [](const auto& r) { return r.size() > 1 && r[0].kept != Kept::all; });
    clerk.steps(c.blocks.tile, twice * s_.depth, {});
  }
  clerk.rows(c.blocks.count * s_.depth * c.blocks.tile.vectors * (std::bit_width(unsigned(isa_.lanes)) - 1));  // a shuffle a cycle, log2(lanes) for a vector
  return clerk.account();
}

Account StreamPlanner::values(Covered& c, Tile t, long columns) const {
  const Machine& m = isa_.machine;
  Clerk clerk(m);
  const auto& steps = value_steps(c, t.rows);
  const long seen = seen_by_all(c);
  long all_steps = 0;  // by all tiles
  for (const auto& [height, of_height] : steps) all_steps += of_height;
  const Cut parts = cut(c.blocks.rows, t.rows);
  const long n = visits(c, columns), at_once = columns_of_visit(c, columns), l1 = m.l1_bytes;
  const long block = 4 * at_once * c.blocks.tile.vectors * isa_.lanes;
  const bool one = one_visit(c, columns);
  const bool far = beyond_l2(), asked = far && asks_ahead();
  const long stride = 4 * stride_of(s_.v.dims[2]).value_or(s_.width);
  for (const auto& g : groups_of(s_.width, t.vectors, isa_.lanes)) {
    const long bytes = 4L * g.vectors * isa_.lanes, held = footprint(at_once, bytes, stride);
    // A line of scores serves several tiles, if L1 still has it when the next one comes.
    const bool resident = held + at_once * line <= l1, scores_resident = held + block <= l1;
    for (const auto& [height, of_height] : steps) {
      if (of_height == 0) continue;
      const long once = seen * bytes * of_height / all_steps, again = resident ? 0 : of_height * bytes - once;
      const long read = scores_resident ? 0 : resident       ? 4 * height
                                          : 16 % height == 0 ? line
                                                             : line + line * (height - 1) / 16;
      const long sums = (one ? 1 : 2) * n * (height > parts.height ? parts.taller : parts.others) * height * bytes;  // go, and come where others were before
      clerk.steps({height, g.vectors}, of_height, {.l2 = (far && !asked ? 0 : once) + again + of_height * read + sums, .memory = far && !asked ? once : 0, .split = splits(of_height * g.vectors, bytes / g.vectors, stride)});
    }
    if (parts.taller) clerk.tiles({int(parts.height + 1), g.vectors}, n * parts.taller);
    clerk.tiles({int(parts.height), g.vectors}, n * parts.others);
  }
  clerk.tiles({1, c.blocks.tile.vectors}, n);                                                   // the rows' state
  // Results are read, scaled, tested and written, unless the tiles that make them do so.
  clerk.rows(((one ? 1 : 2) + !s_.after.terms.empty()) * c.blocks.count * c.blocks.rows * ((s_.width + isa_.lanes - 1) / isa_.lanes));
  return clerk.account();
}

Account StreamPlanner::account(const StreamChoice& choice) {
  const std::vector<Covered*> covered = blocks(choice.scores);
  const long columns = std::min(s_.cols, column_block(covered, choice.column_block));
  Account a;
  for (Covered* c : covered) {
    a += scores(*c, columns);
    a += values(*c, choice.values, columns);
  }
  return s_.outer0 * s_.outer1 * a;
}

}  // namespace attune
