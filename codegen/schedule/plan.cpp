#include "schedule/plan.h"

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

}  // namespace attune
