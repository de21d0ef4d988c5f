#include "schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {

static long local_floats(const ContractPlan&) { return 0; }
static long local_floats(const StreamPlan& p) { return p.local_floats; }
static long local_floats(std::monostate) { return 0; }

Schedule schedule(const Program& program, const Isa& isa) {
  Schedule s;
  s.isa = &isa;
  s.buffer_offset.assign(program.buffers.size(), 0);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.kind != Buffer::Kind::scratch && b.kind != Buffer::Kind::weight && b.kind != Buffer::Kind::table) continue;
    long& end = b.kind == Buffer::Kind::scratch ? s.workspace_floats : s.packed_floats;
    s.buffer_offset[i] = end;
    end += aligned_floats(b.floats);
  }
  for (const Region& r : program.regions) {
    if (const auto* c = std::get_if<Contract>(&r.work)) {
      ContractPlan p = plan_contract(*c, isa);
      for (auto& part : p.parts) {
        part.packed_offset += s.packed_floats;
      }
      for (const auto& part : p.parts) s.packed_floats += part.packed_floats;
      s.regions.push_back(std::move(p));
    } else if (const auto* st = std::get_if<Stream>(&r.work)) {
      s.regions.push_back(plan_stream(*st, isa));
    } else {
      s.regions.push_back(std::monostate{});
    }
    std::visit([&](const auto& p) { s.local_floats = std::max(s.local_floats, aligned_floats(local_floats(p))); }, s.regions.back());
  }
  return s;
}

static std::string text(const Contract& c, const ContractPlan& p, const Isa& isa) {
  std::string r = fmt::format("{} x {} rows of {}:", c.outer0 * c.outer1, c.rows, c.depth);
  for (std::size_t i = 0; i < c.segments.size(); ++i) {
    const auto& part = p.parts[i];
    r += fmt::format("{} {} [{} columns] in {} panels of {} x {}", i ? "," : "", c.segments[i].weight, c.segments[i].groups * c.segments[i].width, part.panels, part.tile.rows, part.tile.vectors * isa.lanes);
  }
  return r;
}

static std::string text(const Stream& s, const StreamPlan& p, const Isa& isa) {
  std::string r = fmt::format("{} x {} rows over {} columns in blocks of {}:", s.outer0 * s.outer1, s.rows, s.cols, p.column_block);
  for (const RowBlocks& b : p.blocks) r += fmt::format(" {} x {} rows, score tile {} x {}{}", b.count, b.rows, b.tile.rows, b.tile.vectors * isa.lanes, &b == &p.blocks.back() ? "" : ";");
  r += fmt::format("; value tile {} x", p.value_rows);
  for (const auto& g : p.groups) r += fmt::format(" {}", (g.vectors - 1) * isa.lanes + g.part);
  return r;
}

std::vector<std::string> describe(const Program& program, const Schedule& s) {
  std::vector<std::string> r;
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    const Region& region = program.regions[i];
    std::string line = region.title + ": ";
    if (const auto* c = std::get_if<Contract>(&region.work)) line += text(*c, std::get<ContractPlan>(s.regions[i]), *s.isa);
    else if (const auto* st = std::get_if<Stream>(&region.work)) line += text(*st, std::get<StreamPlan>(s.regions[i]), *s.isa);
    else line += region.comment.empty() ? "one pass" : region.comment;
    r.push_back(line);
  }
  return r;
}

}  // namespace attune
