// What was decided, why, and what it takes by the model, in words: for the head of generated files and for `attune explain`.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/plan.h"

namespace attune {
namespace {

std::string count(long n, const char* one, const char* many) { return fmt::format("{} {}", n, n == 1 ? one : many); }
std::string bytes(long floats) { return floats < 1L << 18 ? fmt::format("{:.3g} kB", double(floats) / 256) : fmt::format("{:.4g} MB", double(floats) / (1L << 18)); }

// Why a tile is good: what a step of its loop does, and what stays in registers.
std::string step(Tile t, const Isa& isa) {
  return fmt::format("{} of {} registers accumulate, a step is {} fma on {} loads", t.rows * t.vectors, isa.registers, t.rows * t.vectors, t.rows + t.vectors);
}

std::string text(const Contract& c, const ContractPlan& p, const Isa& isa) {
  const long outer = c.outer0 * c.outer1;
  std::string r = outer == 1 ? "" : fmt::format("{} times ", outer);
  r += fmt::format("{} of {} by", count(c.rows, "row", "rows"), c.depth);
  for (std::size_t i = 0; i < c.segments.size(); ++i) r += fmt::format("{} {} ({} columns)", i == 0 ? "" : i + 1 == c.segments.size() ? " and" : ",", c.segments[i].weight, c.segments[i].groups * c.segments[i].width);
  r += fmt::format(", packed in {} of ", count(p.panels, "panel", "panels"));
  for (std::size_t i = 0; i < c.segments.size(); ++i) {
    const auto& part = p.parts[i];
    if (i && part.tile.rows == p.parts[0].tile.rows && part.tile.vectors == p.parts[0].tile.vectors) continue;
    const long width = part.tile.vectors * isa.lanes;
    r += fmt::format("{}{} columns ({}), {} an item; tiles of {} rows x {} columns: {}", i ? ", of " : "", width, bytes(width * c.depth), p.slices == 1 ? "one" : fmt::format("1/{} of its rows", p.slices), part.tile.rows, width, step(part.tile, isa));
  }
  for (std::size_t i = 0; i < c.segments.size(); ++i)
    if (const Segment& s = c.segments[i]; s.finish) r += fmt::format("; the {} columns of each of {} of {} are normalised by row in the item that completes them ({} an item)", s.width, count(s.groups, "group", "groups"), s.weight, count(p.parts[i].panels_of_item, "panel", "panels"));
  if (p.asks_next_panel) r += "; tiles ask memory for the next panel";
  if (p.asks_further_on) r += fmt::format("; steps ask memory for what comes {} later", bytes(ContractPlan::further_on));
  return r + ".";
}

std::string text(const Stream& s, const StreamPlan& p, const Isa& isa) {
  std::string r = fmt::format("{} times {} against {}, {} at a time: their scores lie in a worker's {} and nowhere else.", s.outer0 * s.outer1, count(s.rows, "row", "rows"), count(s.cols, "column", "columns"), p.column_block, bytes(p.local_floats));
  for (const RowBlocks& b : p.blocks)
    if (b.count > 0) r += fmt::format(" {} of {}, score tiles of {} columns x {} lanes: {}.", count(b.count, "block", "blocks"), count(b.rows, "row", "rows"), b.tile.rows, b.tile.vectors * isa.lanes, step(b.tile, isa));
  if (p.ahead || p.asked_rows) r += fmt::format(" Score tiles ask memory for {}{}{}.", p.ahead ? "the next columns and their values" : p.asked_columns ? "the next head" : "", p.asked_rows && (p.ahead || p.asked_columns) ? ", " : "", p.asked_rows ? "the next rows and the results' place" : "");
  if (s.width == 0) r += " Of their rows only numbers are wanted: no values are read.";
  if (s.keep) r += " Whole tiles of removed pairs are skipped; tiles that keep all pairs test none.";
  if (!p.groups.empty()) r += fmt::format(" Value tiles of {} rows x {} columns: {}.", p.value_rows, (p.groups[0].vectors - 1) * isa.lanes + p.groups[0].part, step({p.value_rows, p.groups[0].vectors}, isa));
  if (!s.after.terms.empty()) r += " What follows element by element is made of each block of rows when it is done.";
  return r;
}

// What regions without a schedule cost beside the others: a pass over memory, for a product plain loops, and for what
// pack_weights makes its place.
class Unscheduled {
 public:
  Unscheduled(const Program& p, const Region& r) : p_(p), r_(r) {}
  std::string operator()(const Pointwise& w) const { return and_writes(r_.comment.empty() ? "one pass" : r_.comment, w.out); }
  std::string operator()(const Product& w) const {
    double flops = 2;
    for (const Axes& d : w.out.dims) flops *= double(extent_of(d));
    return and_writes(fmt::format("{}plain loops of {:.3g} MFLOP", r_.comment.empty() ? "" : r_.comment + ": ", flops * double(extent_of(w.a.dims[3])) / 1e6), w.out);
  }
  std::string operator()(const RowReduce& w) const { return and_writes(fmt::format("{}: passes over {}", r_.comment, place(w.in)), w.out); }
  std::string operator()(const RowNorm& w) const { return and_writes(fmt::format("{}: passes over {}", r_.comment, place(w.in)), w.out); }
  std::string operator()(const Angles& w) const { return and_writes(r_.comment, w.out); }
  std::string operator()(const Spread& w) const { return and_writes(r_.comment, w.out); }
  std::string operator()(const Contract&) const { return {}; }
  std::string operator()(const Stream&) const { return {}; }

 private:
  const Program& p_;
  const Region& r_;
  std::string place(const View& v) const {
    long floats = 1;
    for (const Axes& d : v.dims) floats *= extent_of(d);
    return fmt::format("{} ({})", p_.buffers[std::size_t(v.buffer)].name, bytes(floats));
  }
  std::string and_writes(const std::string& what, const View& out) const { return fmt::format("{}, writes {}.", what, place(out)); }
};

}  // namespace

std::string bound(const Account& a) {
  std::vector<std::pair<long, const char*>> all{{a.busy.fma, "fma"}, {a.busy.loads, "loads"}, {a.busy.l2, "L2"}, {a.busy.memory, "memory"}};
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  const auto share = [&](std::size_t i) { return fmt::format("{} {:.0f} %", all[i].second, 100 * double(all[i].first) / double(std::max(1L, a.total()))); };
  return fmt::format("{} of the time, then {}", share(0), share(1));
}

double percent_of_peak(const Account& a, double flops, double flops_a_cycle) {
  const double most = double(a.total()) / 1e3 * flops_a_cycle;
  return most > 0 ? 100 * flops / most : 0;
}

std::string accounts(const Program& program, const Schedule& s) {
  const Machine& m = s.isa->machine;
  std::string r = fmt::format("{} by the model, on one core with {}:\n", s.isa->name, text_of(m));
  r += fmt::format("  {:<24} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  busiest\n", "thousands of cycles", "all", "% of peak", "products", "weights", "loads", "L2", "memory", "latency", "tiles", "rows");
  Account all;
  double flops = 0;
  int known = 0;
  const auto line = [&](const std::string& title, const Account& a, double of) {
    const auto k = [](long thousandths) { return double(thousandths) / 1e6; };
    r += fmt::format("  {:<24} {:>9.1f} {:>9.1f} {:>9.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f}  {}\n", title, k(a.total()), percent_of_peak(a, of, flops_a_cycle(*s.isa)), k(a.products), k(a.weights), k(a.loads), k(a.l2), k(a.memory), k(a.latency), k(a.tiles), k(a.rows), bound(a));
  };
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    if (!s.accounts[i]) {
      r += fmt::format("  {:<24} {:>9}\n", program.regions[i].title, "not known");
      continue;
    }
    if (s.accounts[i]->total() == 0) continue;
    const double here = flops_of(program.regions[i]);
    line(program.regions[i].title, *s.accounts[i], here);
    all += *s.accounts[i];
    flops += here;
    ++known;
  }
  if (known > 1) line("together", all, flops);
  return r;
}

std::vector<std::string> describe(const Program& program, const Schedule& s) {
  std::vector<std::string> r;
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    const Region& region = program.regions[i];
    std::string line = region.title + ": ";
    if (const auto* c = std::get_if<Contract>(&region.work)) line += text(*c, std::get<ContractPlan>(s.regions[i]), *s.isa);
    else if (const auto* st = std::get_if<Stream>(&region.work)) line += text(*st, std::get<StreamPlan>(s.regions[i]), *s.isa);
    else line += std::visit(Unscheduled(program, region), region.work);
    r.push_back(line);
  }
  return r;
}

}  // namespace attune
