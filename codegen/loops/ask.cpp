// What a stream asks memory for before it is needed.
#include "loops/stream.h"

namespace attune::loops {

constexpr long at_a_time = 16;  // lines: what a core asks for beyond that waits, and the tile with it

// In the steps of a tile's product, or before them if there is little to ask for. What comes next is asked
// for in parts, and which part a tile takes its place alone says: blocks of rows take turns with the columns
// of the next head, bands of columns with the rows.
void StreamCode::ask(Steps& how, Block& b, Tile t, std::size_t dot) const {
  struct Rows {
    Expr from;
    long count, stride, floats;
    const char* how;
  };
  std::vector<Rows> all;
  const Dot& d = s_.dots[dot];
  const long depth = d.depth;
  const bool first = dot == 0;  // with it what no dot reads
  const Expr c0 = index("c0"), c1 = index("c1"), row = index("row"), col = index("col");
  if (p_.ahead) {  // from beyond L2 they would come too late, and their addresses are no stream that hardware sees
    all.push_back({name(of_dot("b", dot), Type::in) + Expr(b_col(d) * t.rows), t.rows, b_col(d), depth, "prefetch"});
    if (first) all.push_back({b.let("v", address(c_.memory, s_.v, {c0, c1, col, 0})), t.rows, v_col(), s_.width, "prefetch"});
  }
  const long rows = p_.blocks[0].rows;
  if (p_.asked_columns) {
    const Expr next = b.let("next_col", col + row / rows % std::max(1L, t.rows / p_.asked_columns) * Expr(p_.asked_columns));
    const Expr head = b.let("next_head", s_.outer1 > 1 ? least(c1 + Expr(1), s_.outer1 - 1) : least(c0 + Expr(1), s_.outer0 - 1));
    const Expr n0 = s_.outer1 > 1 ? c0 : head, n1 = s_.outer1 > 1 ? head : Expr(0);
    all.push_back({b.let("next_b", address(c_.memory, d.b, {n0, n1, next, 0})), p_.asked_columns, b_col(d), depth, "prefetch_l2"});
    if (first) all.push_back({b.let("next_v", address(c_.memory, s_.v, {n0, n1, next, 0})), p_.asked_columns, v_col(), s_.width, "prefetch_l2"});
  }
  if (p_.asked_rows) {
    const Expr nth = b.let("nth", col / t.rows % (rows / p_.asked_rows) * Expr(p_.asked_rows));
    Expr next = (row + nth + Expr(last_is_longest() ? s_.rows - rows : rows)) % s_.rows;
    if (s_.rows % p_.asked_rows) next = least(next, s_.rows - p_.asked_rows);
    next = b.let("next_row", next);
    all.push_back({b.let("next_a", address(c_.memory, d.a, {c0, c1, next, 0})), p_.asked_rows, a_row(d), depth, "prefetch_l2"});
    if (first) all.push_back({b.let("out", address(c_.memory, s_.out, {c0, c1, least(row + nth, s_.rows - p_.asked_rows), 0})), p_.asked_rows, out_row(), s_.width, "prefetch_l2"});
  }
  if (all.empty()) return;
  long in_a_line = 0;  // of steps
  for (const Rows& r : all) in_a_line += r.count * ((r.floats + depth - 1) / depth);
  const long groups = (in_a_line * ((depth + Steps::line - 1) / Steps::line) + at_a_time - 1) / at_a_time;
  how.every = std::max(1L, (depth / groups + Steps::line - 1) / Steps::line) * Steps::line;
  if (how.between.run) how.every = depth % (how.between.outer * Steps::line) == 0 ? depth / how.between.outer : depth;
  how.ahead = [all, every = std::min(how.every, depth), depth](Block& at, const Expr& k) {
    for (const Rows& r : all)
      for (long i = 0; i < r.count; ++i)
        for (long n = 0; n < r.floats; n += depth)
          for (long l = 0; l < every; l += Steps::line) at.run(call(r.how, Type::none, {r.from + Expr(r.stride * i + n + l) + k}));
  };
}

}  // namespace attune::loops
