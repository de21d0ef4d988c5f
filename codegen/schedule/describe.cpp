// What was decided, and why, in words: for the head of generated files and for `attune explain`.
#include <fmt/format.h>

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
  if (p.ahead) r += "; tiles ask memory for the next panel";
  return r + ".";
}

std::string text(const Stream& s, const StreamPlan& p, const Isa& isa) {
  std::string r = fmt::format("{} times {} against {}, {} at a time: their scores lie in a worker's {} and nowhere else.", s.outer0 * s.outer1, count(s.rows, "row", "rows"), count(s.cols, "column", "columns"), p.column_block, bytes(p.local_floats));
  for (const RowBlocks& b : p.blocks)
    if (b.count > 0) r += fmt::format(" {} of {}, score tiles of {} columns x {} lanes: {}.", count(b.count, "block", "blocks"), count(b.rows, "row", "rows"), b.tile.rows, b.tile.vectors * isa.lanes, step(b.tile, isa));
  if (p.ahead) r += " Score tiles ask memory for the next columns and their values.";
  if (s.keep) r += " Whole tiles of removed pairs are skipped; tiles that keep all pairs test none.";
  if (!p.groups.empty()) r += fmt::format(" Value tiles of {} rows x {} columns: {}.", p.value_rows, (p.groups[0].vectors - 1) * isa.lanes + p.groups[0].part, step({p.value_rows, p.groups[0].vectors}, isa));
  return r;
}

// What regions without a schedule cost beside the others: a pass over memory, and for a product plain loops.
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
  template <class Scheduled>
  std::string operator()(const Scheduled&) const { return {}; }

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
