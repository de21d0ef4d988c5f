#include "passes/block_map.h"
#include <fmt/format.h>
#include <algorithm>

namespace attune {
namespace {

constexpr long blocks_in(long len, long step) { return (len + step - 1) / step; }

struct RunFinder {
  const IndexAnalysis& analysis;
  long q0, q1, kv_len, step;
  std::vector<Run> runs{};

  Block scores(long begin, long end) const { return {0, analysis.batches(), 0, analysis.heads(), q0, q1, begin * step, std::min(end * step, kv_len)}; }

  // Blocks [begin, end), left to right; one that bounds can't decide is halved.
  void find(long begin, long end) {
    if (begin >= end) return;
    const Block b = scores(begin, end);
    const Kept kept = end - begin == 1 ? analysis.classify_exact(b) : analysis.classify(b);
    if (kept == Kept::mixed && end - begin > 1) {
      const long middle = begin + (end - begin) / 2;
      find(begin, middle);
      find(middle, end);
    } else if (kept != Kept::none) {
      if (!runs.empty() && runs.back().end == b.kv0 && runs.back().kept == kept) runs.back().end = b.kv1;
      else runs.push_back({b.kv0, b.kv1, kept});
    }
  }
};

// Marks the rows of [q0, q1) that keep nothing in some batch and head of the block.
void mark_rows_without_any(const IndexAnalysis& a, const Block& b, std::vector<bool>& marked) {
  if (b.batch0 >= b.batch1 || b.head0 >= b.head1 || b.q0 >= b.q1) return;
  if (b.q1 - b.q0 == 1 && marked[std::size_t(b.q0)]) return;
  const Block row{b.batch0, b.batch0 + 1, b.head0, b.head0 + 1, b.q0, b.q0 + 1, b.kv0, b.kv1};
  const long kv = a.first_kept(row);
  const auto mark = [&](long q0, long q1) { std::fill(marked.begin() + q0, marked.begin() + q1, true); };
  if (kv < 0) {
    if (a.classify(b) == Kept::none) return mark(b.q0, b.q1);
    mark(b.q0, b.q0 + 1);
  } else {  // a key that all rows keep settles them
    Block column = b;
    column.kv0 = kv;
    column.kv1 = kv + 1;
    if (a.classify(column) == Kept::all) return;
  }
  Block low = b, high = b;
  if (b.q1 - b.q0 > 1) low.q1 = high.q0 = b.q0 + (b.q1 - b.q0) / 2;
  else if (b.head1 - b.head0 > 1) low.head1 = high.head0 = b.head0 + (b.head1 - b.head0) / 2;
  else if (b.batch1 - b.batch0 > 1) low.batch1 = high.batch0 = b.batch0 + (b.batch1 - b.batch0) / 2;
  else return;
  mark_rows_without_any(a, low, marked);
  mark_rows_without_any(a, high, marked);
}

}  // namespace

std::vector<Run> runs_of(const IndexAnalysis& analysis, long q0, long q1, long kv_len, long step) {
  RunFinder finder{analysis, q0, q1, kv_len, step};
  finder.find(0, blocks_in(kv_len, step));
  return finder.runs;
}

BlockMap block_map(const IndexAnalysis& analysis, long q_len, long kv_len, long q_step, long kv_step) {
  BlockMap m{q_step, kv_step, q_len, kv_len, {}};
  for (long q = 0; q < q_len; q += q_step) m.rows.push_back(runs_of(analysis, q, std::min(q + q_step, q_len), kv_len, kv_step));
  return m;
}

Affine fit_affine(const std::vector<long>& values, long limit) {
  const auto reproduces = [&](const Affine& a) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (a(long(i)) != values[i]) return false;
    return true;
  };
  if (values.empty()) return {0, 0, limit, true};
  // The values strictly between 0 and limit are successive. If there are several, two of them
  // neighbour each other at the first or second change; if there is one, the larger of the changes
  // beside it is a slope steep enough.
  std::vector<Affine> candidates{{0, values[0], limit, true}};
  for (std::size_t i = 0; i + 1 < values.size() && candidates.size() < 3; ++i)
    if (const long step = values[i + 1] - values[i]; step != 0) candidates.push_back({step, values[i] - step * long(i), limit, true});
  for (const Affine& a : candidates)
    if (reproduces(a)) return a;
  return {0, 0, limit, false};
}

long kept_pairs(const IndexAnalysis& analysis, long batches, long heads, long q_len, long kv_len) {
  return analysis.count_kept({0, batches, 0, heads, 0, q_len, 0, kv_len});
}

std::vector<int> rows_without_any(const IndexAnalysis& analysis, long q_len, long kv_len) {
  std::vector<bool> marked(std::size_t(std::max(q_len, 0L)));
  // Heads or batches that the predicate ignores all agree.
  const long batches = analysis.depends_on(Op::batch_index) ? analysis.batches() : std::min(1L, analysis.batches());
  const long heads = analysis.depends_on(Op::head_index) ? analysis.heads() : std::min(1L, analysis.heads());
  mark_rows_without_any(analysis, {0, batches, 0, heads, 0, q_len, 0, kv_len}, marked);
  std::vector<int> rows;
  for (std::size_t q = 0; q < marked.size(); ++q)
    if (marked[q]) rows.push_back(int(q));
  return rows;
}

std::vector<std::vector<Kept>> blocks_of(const BlockMap& m) {
  std::vector<std::vector<Kept>> blocks(m.rows.size(), std::vector<Kept>(std::size_t(blocks_in(m.kv_len, m.kv_step)), Kept::none));
  for (std::size_t q = 0; q < m.rows.size(); ++q)
    for (const Run& r : m.rows[q]) std::fill(blocks[q].begin() + r.begin / m.kv_step, blocks[q].begin() + blocks_in(r.end, m.kv_step), r.kept);
  return blocks;
}

BlockCounts count_blocks(const BlockMap& m) {
  BlockCounts n;
  for (const auto& row : blocks_of(m))
    for (const Kept k : row) ++(k == Kept::all ? n.all : k == Kept::mixed ? n.mixed : n.none);
  return n;
}

std::string draw(const BlockMap& m) {
  constexpr long most_columns = 64;
  const long across = blocks_in(m.kv_len, m.kv_step), down = long(m.rows.size());
  if (across == 0 || down == 0) return "no scores\n";
  const std::vector<std::vector<Kept>> blocks = blocks_of(m);
  const long side = blocks_in(std::max(across, 1L), most_columns);
  std::string text;
  for (long q = 0; q < down; q += side) {
    for (long kv = 0; kv < across; kv += side) {
      const Kept first = blocks[std::size_t(q)][std::size_t(kv)];
      bool alike = true;
      for (long i = q; i < std::min(q + side, down); ++i)
        for (long j = kv; j < std::min(kv + side, across); ++j) alike &= blocks[std::size_t(i)][std::size_t(j)] == first;
      text += !alike || first == Kept::mixed ? '+' : first == Kept::all ? '#' : '.';
    }
    text += '\n';
  }
  const BlockCounts n = count_blocks(m);
  const auto share = [&](long some) { return 100.0 * double(some) / double(n.blocks()); };
  text += fmt::format("# all {:.1f} %   + mixed {:.1f} %   . none {:.1f} %   computed: {:.1f} % of {} x {} blocks of {} x {}\n", share(n.all), share(n.mixed), share(n.none), share(n.computed()), down, across, m.q_step, m.kv_step);
  if (side > 1) text += fmt::format("a character is {0} x {0} blocks\n", side);
  return text;
}

}  // namespace attune
