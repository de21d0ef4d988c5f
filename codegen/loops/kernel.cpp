#include "loops/kernel.h"

#include <algorithm>
#include <set>

namespace attune::loops {

static void pack_weight(Block& b, const Buffer& w, long offset) {
  const Expr from = name("w->" + w.name, Type::in), to = name("packed", Type::out) + Expr(offset);
  const auto index = [](const char* n) { return name(n, Type::index); };
  if (!w.transposed) {
    Block i = b.loop("i", 0, w.floats);
    i.assign(element(to, index("i")), element(from, index("i")));
    return;
  }
  const long columns = w.width, rows = w.floats / columns;  // stored as [rows, columns], given as [columns, rows]
  Block j = b.loop("j", 0, columns);
  Block i = j.loop("i", 0, rows);
  i.assign(element(to, Expr(columns) * index("i") + index("j")), element(from, Expr(rows) * index("j") + index("i")));
}

static bool empty(const View& v) { return std::any_of(v.dims.begin(), v.dims.end(), [](const Axes& d) { return extent_of(d) == 0; }); }

// Whether a region writes nothing.
static bool idle(const Region& r) {
  if (const auto* c = std::get_if<Contract>(&r.work)) return std::all_of(c->segments.begin(), c->segments.end(), [](const Segment& s) { return empty(s.out); });
  return std::visit(
      [](const auto& w) {
        if constexpr (requires { w.out; }) return empty(w.out);
        else return false;
      },
      r.work);
}

Kernel lower(const Program& program, const Schedule& schedule, bool vectorisable) {
  Kernel k;
  k.program = &program;
  k.schedule = &schedule;
  std::set<std::string> titles;
  Block pack(k.pack);
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    const Region& r = program.regions[i];
    if (idle(r)) continue;
    std::string prefix = r.title;
    for (int n = 1; !titles.insert(prefix).second; ++n) prefix = r.title + "_" + std::to_string(n);
    Context c{k, {&program}, prefix, schedule.isa->lanes, vectorisable};
    const auto& plan = schedule.regions[i];
    if (const auto* w = std::get_if<Contract>(&r.work)) lower_contract(c, *w, std::get<ContractPlan>(plan));
    if (const auto* w = std::get_if<Stream>(&r.work)) lower_stream(c, *w, std::get<StreamPlan>(plan));
    if (const auto* w = std::get_if<Pointwise>(&r.work)) lower_pointwise(c, *w);
    if (const auto* w = std::get_if<Product>(&r.work)) lower_product(c, *w);
    if (const auto* w = std::get_if<RowReduce>(&r.work)) lower_row_reduce(c, *w);
    if (const auto* w = std::get_if<RowNorm>(&r.work)) lower_row_norm(c, *w);
    if (const auto* w = std::get_if<Spread>(&r.work)) pack_spread(pack, *w, c.memory, schedule.buffer_offset[std::size_t(w->out.buffer)]);
    if (const auto* w = std::get_if<Angles>(&r.work)) {
      if (program.buffers[std::size_t(w->out.buffer)].kind == Buffer::Kind::table) pack_angles(pack, *w, c.memory, schedule.buffer_offset[std::size_t(w->out.buffer)]);
      else lower_angles(c, *w);
    }
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].kind == Buffer::Kind::weight) pack_weight(pack, program.buffers[i], schedule.buffer_offset[i]);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (const auto* w = std::get_if<Contract>(&program.regions[i].work); w && !idle(program.regions[i])) pack_contract(pack, *w, std::get<ContractPlan>(schedule.regions[i]), schedule.isa->lanes, {&program});
  prune(k.functions);
  tidy(k.functions);
  return k;
}

}  // namespace attune::loops
