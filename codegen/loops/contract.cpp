#include <fmt/format.h>

#include <map>

#include "loops/kernel.h"

namespace attune::loops {
namespace {

Expr index(const char* n) { return name(n, Type::index); }

// One segment: its micro-kernels, and the loop over rows for one of its panels.
class SegmentCode {
 public:
  SegmentCode(Context& c, const Contract& r, const Segment& s, const ContractPlan::Part& p, const ContractPlan& plan) : c_(c), r_(r), s_(s), p_(p), plan_(plan) {}

  // A slice of the rows of the nth item of the segment.
  void item(Block& b, const Expr& nth, const std::array<Expr, region_rank>& outer) {
    if (!s_.finish) return panel(b, nth, outer);
    const auto all = [&](const char* n, long each, long count) { return p_.items == 1 ? b.loop(n, 0, count) : b.loop(n, Expr(each) * nth, least(Expr(each) * (nth + Expr(1)), count)); };
    Block panels = all("of_group", p_.panels_of_item, p_.panels);
    panel(panels, index("of_group"), outer);
    b.blank();
    Block groups = all("group", p_.panels_of_item * p_.tile.vectors / p_.vectors_in_group, s_.groups);
    const Cut c = cut(r_.rows, p_.tile.rows);
    const auto first_row = [&](const Expr& tile) { return Expr(c.height) * tile + least(tile, c.taller); };
    const auto [begin, end] = tiles_of_slice(c);
    Block row = plan_.slices == 1 ? groups.loop("row", 0, r_.rows) : groups.loop("row", first_row(begin), first_row(end));
    row.run(call(finish(), Type::none, {memory_argument(), outer[0], index("group"), index("row")}));
  }

 private:
  // `panel` counts within the segment.
  void panel(Block& b, Expr panel, const std::array<Expr, region_rank>& outer) {
    const Expr a = b.let("a", address(c_.memory, r_.a, {outer[0], outer[1], 0, 0}));
    const Expr w = b.let("w", name("m.packed", Type::in) + Expr(p_.packed_offset) + Expr(p_.tile.vectors * c_.lanes * r_.depth) * panel);
    const Expr vector = b.let("vector", Expr(p_.tile.vectors) * panel);
    if (p_.last_panel != p_.tile.vectors && p_.panels > 1) {
      Block full = b.when(binary("<", panel, p_.panels - 1, Type::flag));
      rows(full, p_.tile.vectors, a, w, vector, outer);
      Block last = b.otherwise();
      rows(last, p_.last_panel, a, w, vector, outer);
    } else {
      rows(b, p_.last_panel, a, w, vector, outer);
    }
  }

  Context& c_;
  const Contract& r_;
  const Segment& s_;
  const ContractPlan::Part& p_;
  const ContractPlan& plan_;
  std::map<std::pair<int, int>, std::string> made_;  // the micro-kernels of this segment, by rows and vectors

  long row_stride() const { return *stride_of(r_.a.dims[2]); }
  long depth_stride() const { return *stride_of(r_.a.dims[3]); }

  void rows(Block& b, int vectors, const Expr& a, const Expr& w, const Expr& vector, const std::array<Expr, region_rank>& outer) {
    const auto tile = [&](Block& at, long rows, const Expr& row) {
      at.run(call(micro_kernel({int(rows), vectors}), Type::none, {memory_argument(), a + Expr(row_stride()) * row, w, outer[0], outer[1], row, vector}));
    };
    const Cut c = cut(r_.rows, p_.tile.rows);
    if (plan_.slices == 1) return each_tile(b, "row", c, tile);
    const auto [begin, end] = tiles_of_slice(c);
    Block loop = b.loop("tile", begin, end);
    const auto of_height = [&](Block at, long height, long before) { tile(at, height, at.let("row", Expr(height) * index("tile") + Expr(before))); };
    if (c.taller == 0) return of_height(loop, c.height, 0);
    of_height(loop.when(binary("<", index("tile"), c.taller, Type::flag)), c.height + 1, 0);
    of_height(loop.otherwise(), c.height, c.taller);
  }

  std::pair<Expr, Expr> tiles_of_slice(const Cut& c) const {
    const Expr slice = index("slice"), tiles = Expr(c.taller + c.others);
    return {tiles * slice / plan_.slices, tiles * (slice + Expr(1)) / plan_.slices};
  }

  // A row of a group whose columns all stand where they belong: its vectors pass through registers, since each may
  // want another.
  std::string finish() {
    const std::string n = fmt::format("{}_finish", c_.prefix + "_" + s_.weight);
    Function f;
    f.name = n;
    f.comment = fmt::format("A row of {} columns, which are all there, is normalised.", s_.width);
    f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "group"}, {Type::index, "row"}};
    Block b(f.body);
    const Expr out = b.let("out", address(c_.memory, s_.out, {index("c0"), index("group"), index("row"), 0}));
    const Expr norm = b.let("norm", call("splat", Type::vec, {norm_of_row(s_.finish->norm, out, s_.width)}));
    const long lanes = c_.lanes, count = p_.vectors_in_group;
    const auto part = [&](long v) { return v == count - 1 && s_.width % lanes ? s_.width % lanes : -1; };
    std::vector<Expr> x;
    for (long v = 0; v < count; ++v) x.push_back(b.let(fmt::format("x{}", v), load_vector(out + Expr(v * lanes), part(v))));
    b.blank();
    std::function<ElementCode(long)> code_of = [&](long v) {
      ElementCode e;
      e.memory = &c_.memory;
      e.expression = &s_.finish->value;
      e.at = {index("c0"), index("group"), index("row"), v * lanes};
      e.lane_axis = 3;
      e.part = part(v);
      e.acc = x[std::size_t(v)];
      e.total = norm;
      e.partner = [&code_of, v, lanes](const Term& t) {
        const long apart = t.index / lanes;
        return code_of(v < apart ? v + apart : v - apart).real_value(t.in[0]);
      };
      return e;
    };
    for (long v = 0; v < count; ++v) b.run(store_vector(out + Expr(v * lanes), code_of(v)(), part(v)));
    c_.kernel.functions.push_back(std::move(f));
    return n;
  }

  std::string micro_kernel(Tile t) {
    const auto [made, fresh] = made_.try_emplace({t.rows, t.vectors});
    if (!fresh) return made->second;
    std::string n = fmt::format("{}_tile_{}x{}", s_.weight, t.rows, t.vectors * c_.lanes);
    for (int again = 1; c_.has(n); ++again) n = fmt::format("{}_{}_tile_{}x{}", s_.weight, again, t.rows, t.vectors * c_.lanes);  // a weight of two projections
    made->second = n;
    const std::vector<Parameter> parameters{memory_parameter(), {Type::in, "a"}, {Type::in, "w"}, {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "vector"}};
    Function f;
    f.name = n;
    f.comment = fmt::format("{} of a times {} columns of the panel w, {} steps deep.", t.rows == 1 ? "One row" : fmt::format("{} rows", t.rows), t.vectors * c_.lanes, r_.depth);
    f.parameters = parameters;
    Block b(f.body);
    const Accumulators s = declare_accumulators(b, t);
    Steps how;
    if (plan_.asks_next_panel) how.ahead = [&](Block& at, const Expr& k) { ask_ahead(at, t, k); };
    if (plan_.asks_further_on) {
      how.beside = [&](Block& at, const Expr& k) { ask_further_on(at, t, k); };
      how.beside_body = 2 * ((t.vectors * c_.lanes + Steps::line - 1) / Steps::line);
    }
    accumulate(c_, b, s, r_.depth, {c_.prefix, name("a", Type::in), row_stride(), depth_stride(), name("w", Type::in), t.vectors * c_.lanes}, how);
    b.blank();
    epilogue(b, t, s);
    c_.kernel.functions.push_back(std::move(f));
    return n;
  }

  // This tile's share of the next panel: the tiles of all rows together ask for all of it.
  void ask_ahead(Block& b, Tile t, const Expr& k) const {
    const long width = t.vectors * c_.lanes, lines = (t.rows * width + r_.rows - 1) / r_.rows;
    const Expr share = Expr(Steps::line) * (Expr(width) * index("row") / r_.rows);
    for (long i = 0; i < lines; ++i) b.run(call("prefetch_l2", Type::none, {name("w", Type::in) + Expr(width * r_.depth) + Expr(width) * k + share + Expr(Steps::line * i)}));
  }

  // The lines of a later step.
  void ask_further_on(Block& b, Tile t, const Expr& k) const {
    const long width = t.vectors * c_.lanes;
    for (long i = 0; i < width; i += Steps::line) b.run(call("prefetch", Type::none, {name("w", Type::in) + Expr(width) * k + Expr(ContractPlan::further_on + i)}));
  }

  // Where vector v of the tile lies: its group of columns and its first column within.
  struct Column {
    Expr group, first;
    enum class Tail { never, always, perhaps } tail = Tail::never;
  };
  Column column(Block& b, Tile t, int v) const {
    const long in_group = p_.vectors_in_group;
    const Expr vector = index("vector");
    Column c;
    const bool aligned = s_.groups == 1 || in_group % p_.tile.vectors == 0;  // a panel lies within one group
    const bool halved = aligned && p_.halves && p_.tile.vectors % 2 == 0;
    // Where they follow each other, the first vector tells where the others lie.
    const auto once = [&](const char* n, const Expr& e) { return v == 0 ? b.let(n, e) : e.constant() ? e : name(e->form == Expr::Form::name ? e->text : n, Type::index); };
    if (s_.groups == 1) c.group = index("c1");
    else if (aligned) c.group = once("group", vector / in_group);
    else c.group = b.let("group" + std::to_string(v), (vector + Expr(v)) / in_group);
    const Expr first = in_group == t.vectors ? Expr(0) : s_.groups == 1 ? vector : vector % in_group;
    if (halved) c.first = once("n", Expr(c_.lanes) * (first / 2)) + Expr(c_.lanes * (v / 2 + v % 2 * (in_group / 2)));
    else if (aligned && !p_.halves) c.first = once("n", Expr(c_.lanes) * first) + Expr(c_.lanes * v);
    else {
      const Expr at = (vector + Expr(v)) % in_group;
      c.first = b.let("n" + std::to_string(v), Expr(c_.lanes) * (p_.halves ? at / 2 + at % 2 * Expr(in_group / 2) : at));
    }
    if (s_.width % c_.lanes == 0) return c;
    if (c.first.constant()) c.tail = c.first->integer + c_.lanes > s_.width ? Column::Tail::always : Column::Tail::never;
    else if (!aligned || v == t.vectors - 1) c.tail = Column::Tail::perhaps;
    return c;
  }

  void epilogue(Block& b, Tile t, const Accumulators& s) const {
    std::vector<Column> columns;
    for (int v = 0; v < t.vectors; ++v) columns.push_back(column(b, t, v));
    b.blank();
    for (int v = 0; v < t.vectors; ++v) {
      const long tail = s_.width % c_.lanes;
      switch (columns[std::size_t(v)].tail) {
        case Column::Tail::never: store_column(b, t, s, columns, v, -1); break;
        case Column::Tail::always: store_column(b, t, s, columns, v, tail); break;
        case Column::Tail::perhaps: {
          Block full = b.when(binary("<=", columns[std::size_t(v)].first, s_.width - c_.lanes, Type::flag));
          store_column(full, t, s, columns, v, -1);
          Block partial = b.otherwise();
          store_column(partial, t, s, columns, v, tail);
        }
      }
    }
  }

  void store_column(Block& b, Tile t, const Accumulators& s, const std::vector<Column>& columns, int v, long part) const {
    for (int i = 0; i < t.rows; ++i) {
      const Expr row = index("row") + Expr(i);
      std::function<ElementCode(int)> code_of;
      code_of = [&](int vector) {
        ElementCode e;
        e.memory = &c_.memory;
        e.expression = &s_.epilogue;
        e.at = {index("c0"), columns[std::size_t(vector)].group, row, columns[std::size_t(vector)].first};
        e.lane_axis = 3;
        e.part = part;
        e.acc = s[std::size_t(i)][std::size_t(vector)];
        e.partner = [&code_of, vector](const Term& t) { return code_of(vector ^ 1).real_value(t.in[0]); };
        return e;
      };
      const ElementCode e = code_of(v);
      b.run(store_vector(address(c_.memory, s_.out, e.at), e(), part));
    }
  }
};

}  // namespace

void lower_contract(Context& c, const Contract& r, const ContractPlan& plan) {
  Function item;
  item.name = c.prefix;
  item.comment = fmt::format("An item: {} against one panel of columns.", plan.slices == 1 ? "all rows" : "a slice of the rows");
  item.fixed = true;
  item.parameters = {memory_parameter(), {Type::index, "item"}, {Type::out, "local"}};
  Block b(item.body);
  const long outer = r.outer0 * r.outer1;
  if (plan.slices > 1) b.let("slice", index("item") % plan.slices);
  const bool finishes = std::any_of(r.segments.begin(), r.segments.end(), [](const Segment& s) { return s.finish.has_value(); });
  const Expr panel = b.let(finishes ? "nth" : "panel", index("item") / (outer * plan.slices)), of_panels = index("item") / plan.slices;
  const std::array<Expr, region_rank> at{b.let("c0", of_panels % outer / r.outer1), b.let("c1", r.outer1 == 1 ? Expr(0) : of_panels % r.outer1), 0, 0};
  long first = 0;
  Block rest = b;
  for (std::size_t i = 0; i < r.segments.size(); ++i) {
    SegmentCode code(c, r, r.segments[i], plan.parts[i], plan);
    if (i + 1 == r.segments.size()) {
      code.item(rest, panel - Expr(first), at);
      break;
    }
    Block branch = rest.when(binary("<", panel, first + plan.parts[i].items, Type::flag));
    code.item(branch, panel - Expr(first), at);
    first += plan.parts[i].items;
    rest = rest.otherwise();
  }
  c.kernel.work.push_back({item.name, c.prefix, plan.items * outer * plan.slices});
  c.kernel.functions.push_back(std::move(item));
}

// [panel][k][vector of the panel][lane], zero where a group's last vector has no column.
void pack_contract(Block& b, const Contract& r, const ContractPlan& plan, int lanes, const Memory&) {
  for (std::size_t i = 0; i < r.segments.size(); ++i) {
    const Segment& s = r.segments[i];
    const ContractPlan::Part& p = plan.parts[i];
    b.comment(fmt::format("{}: panels of {} columns, each [{}, columns]", s.weight, p.tile.vectors * lanes, r.depth));
    const long full = p.tile.vectors;
    Block panels = b.loop("vector", 0, p.vectors);
    const Expr vector = index("vector");
    const Expr panel = panels.let("panel", vector / full);
    const Expr width = panels.let("width", p.last_panel == full ? Expr(full * lanes) : choose(binary("<", panel, p.panels - 1, Type::flag), full * lanes, long(p.last_panel) * lanes));
    const Expr in_group = s.groups == 1 ? vector : panels.let("place", vector % p.vectors_in_group);
    const Expr column = panels.let("column", Expr(lanes) * (p.halves ? in_group / 2 + in_group % 2 * Expr(p.vectors_in_group / 2) : in_group));
    const Expr to = panels.let("to", name("packed", Type::out) + Expr(p.packed_offset) + Expr(full * lanes * r.depth) * panel + Expr(lanes) * (vector % full));
    const Expr from = panels.let("from", name("w->" + s.weight, Type::in) + Expr(r.depth) * ((s.groups == 1 ? Expr(0) : Expr(s.width) * (vector / p.vectors_in_group)) + column));
    Block k = panels.loop("k", 0, r.depth);
    Block lane = k.loop("lane", 0, lanes);
    const Expr value = element(from, Expr(r.depth) * index("lane") + index("k"));
    lane.assign(element(to, index("k") * width + index("lane")), s.width % lanes == 0 ? value : choose(binary("<", column + index("lane"), s.width, Type::flag), value, real(0)));
  }
}

}  // namespace attune::loops
