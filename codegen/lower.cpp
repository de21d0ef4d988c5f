// The compiler, as the list of what happens to a graph.
#include "lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "emit/files.h"
#include "graph/print.h"
#include "graph/verify.h"
#include "isa/naive.h"
#include "passes/distribute.h"
#include "passes/fold.h"
#include "passes/fuse.h"
#include "passes/pipeline.h"

namespace attune {

std::vector<Pass> passes() {
  return {
      {"fold-constants", fold_constants},
      {"distribute-products", distribute_products},
  };
}

static Graph simplified(Graph g) {
  verify(g);
  for (const Pass& p : passes()) {
    g = p.run(g);
    verify(g);
  }
  return g;
}

static Program regions_of(const Graph& g) {
  const Graph simple = simplified(g);
  try {
    Program p = fuse(simple);
    merge_contractions(p);
    return p;
  } catch (const InvalidGraph& e) {  // of a table that is read in a way for which there is no code
    throw Error(e.what());
  }
}

Interface interface_of(const Graph& g) {
  Interface r;
  for (int i : inputs_of(g)) r.inputs.push_back({std::string(g[i].attr.name), g[i].type.dims, g[i].type.kind == Kind::integers});
  for (int i : weights_of(g)) r.weights.push_back({std::string(g[i].attr.name), g[i].type.dims});
  for (const Output& o : g.outputs) r.outputs.push_back({std::string(o.name), g[o.node].type.dims});
  return r;
}

static std::vector<emit::Tensor> tensors(const std::vector<Argument>& arguments) {
  std::vector<emit::Tensor> r;
  for (const Argument& a : arguments) r.push_back({a.name, {a.dims.d.begin(), a.dims.d.begin() + a.dims.rank}, a.integers});
  return r;
}

// Names of the spec become fields of structs and members of the kernel.
static void check_names(const Interface& i) {
  static const std::set<std::string> taken{"packed", "local", "auto", "bool", "break", "case", "char", "class", "const", "default", "delete", "do", "double", "else", "enum", "extern", "float", "for", "if", "int", "long", "new", "operator", "private", "public", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "union", "unsigned", "using", "void", "while"};
  for (const auto* list : {&i.inputs, &i.outputs, &i.weights})
    for (const Argument& a : *list) {
      const bool identifier = !a.name.empty() && !std::isdigit(static_cast<unsigned char>(a.name[0])) && std::all_of(a.name.begin(), a.name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
      if (!identifier) throw Error(fmt::format("the name \"{}\" is no C identifier; use letters, digits and _", a.name));
      if (taken.contains(a.name)) throw Error(fmt::format("the name \"{}\" is taken by C++ or by the kernel; choose another", a.name));
    }
}

static emit::Signature signature(const Graph& g, const Program& p, const GenerateOptions& o) {
  const Interface i = interface_of(g);
  check_names(i);
  emit::Signature s{o.name, o.spec, o.command, tensors(i.inputs), tensors(i.outputs), tensors(i.weights), flops_of(g), !i.weights.empty(), o.source};
  for (const Buffer& b : p.buffers) s.packs = s.packs || b.kind == Buffer::Kind::table;
  return s;
}

static Schedule scheduled(const Program& p, const Isa& target, const std::string& name, const GenerateOptions& o) {
  const auto given = o.schedules.find(name);
  try {
    return schedule(p, target, given == o.schedules.end() ? Choices{} : given->second);
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{}, {}: {}", o.spec, name, e.what()));
  }
}

// An ISA with the machine that is known of it.
static Isa target(const std::string& name, const Machines& machines) {
  Isa r = isa(name);
  if (const auto known = machines.find(name); known != machines.end()) r.machine = known->second;
  return r;
}

std::vector<Decision> decisions(const Graph& g, const std::string& name, const Machines& machines) {
  const Program p = regions_of(g);
  const Isa costed = target(name, machines);
  std::vector<Decision> r;
  for (std::size_t i = 0; i < p.regions.size(); ++i) {
    std::vector<Ranked> ranked = ranked_choices(p.regions[i], costed);
    if (ranked.empty()) continue;
    std::string title = p.regions[i].title;
    for (int again = 1; std::any_of(r.begin(), r.end(), [&](const Decision& d) { return d.title == title; }); ++again) title = fmt::format("{}_{}", p.regions[i].title, again);
    r.push_back({i, title, std::move(ranked)});
  }
  return r;
}

// FNV-1a of the graph's text (http://www.isthe.com/chongo/tech/comp/fnv/).
std::string graph_hash(const Graph& g) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const unsigned char c : to_text(simplified(g))) h = (h ^ c) * 0x100000001b3;
  return fmt::format("{:016x}", h);
}

void require_isa(const std::string& name) try {
  isa(name);
} catch (const std::out_of_range& e) {
  throw Error(e.what());
}

std::vector<SourceFile> generate(const Graph& g, const GenerateOptions& o) {
  if (o.isas.empty()) throw Error("no ISA to generate for");
  for (const std::string& n : o.isas) require_isa(n);
  const Program p = regions_of(g);
  const emit::Signature s = signature(g, p, o);
  std::vector<SourceFile> files{{o.name + ".h", emit::header(s)}, {o.name + ".cpp", ""}, {o.name + ".hpp", emit::named_arguments(s)}};
  std::vector<std::string> names, tests;
  for (const std::string& known : isa_names()) {  // in order of preference
    if (std::find(o.isas.begin(), o.isas.end(), known) == o.isas.end()) continue;
    const Isa native = target(known, o.machines), used = o.emulate ? emulated(native) : native;
    const Schedule plan = scheduled(p, used, known, o);
    files.push_back({fmt::format("{}_{}.cpp", o.name, known), emit::kernel(s, used, loops::lower(p, plan, true), describe(p, plan))});
    names.push_back(known);
    tests.push_back(used.cpu_test.text);
  }
  files[1].text = emit::dispatcher(s, names, tests);
  if (o.python) files.push_back({o.name + ".py", emit::python(s, names)});
  return files;
}

std::vector<SourceFile> generate_naive(const Graph& g, const GenerateOptions& o, LoopOrder order) {
  verify(g);
  const Program p = unfused(g);
  const emit::Signature s = signature(g, p, o);
  const Isa target = naive_isa();
  const Schedule plan = schedule(p, target);
  const std::string note = order == LoopOrder::textbook ? "one loop nest an op, dot products in order" : "one loop nest an op, innermost loops over columns";
  return {{o.name + ".h", emit::header(s)},
          {o.name + ".cpp", emit::dispatcher(s, {"naive"}, {"1"})},
          {o.name + "_naive.cpp", emit::kernel(s, target, loops::lower(p, plan, order == LoopOrder::vectorisable), {note})}};
}

std::vector<MaskMap> mask_maps(const Graph& g, long most) {
  const Program p = regions_of(g);
  std::vector<MaskMap> r;
  for (const Region& region : p.regions) {
    const auto* s = std::get_if<Stream>(&region.work);
    if (!s || !s->keep) continue;
    const IndexAnalysis keep(*s->keep->graph, s->keep->node, s->outer0, s->outer1);
    const long step = std::max(1L, (std::max(s->rows, s->cols) + most - 1) / most);
    r.push_back({region.title, expression_text(*s->keep->graph, s->keep->node), block_map(keep, s->rows, s->cols, step, step), rows_without_any(keep, s->rows, s->cols)});
  }
  return r;
}

std::vector<Decided> decided(const Graph& g, const GenerateOptions& o) {
  const Program p = regions_of(g);
  std::vector<Decided> r;
  for (const std::string& n : o.isas) {
    const Isa costed = target(n, o.machines);
    const Schedule plan = scheduled(p, costed, n, o);
    Decided d{n, costed.machine, flops_a_cycle(costed), 4 * plan.workspace_floats, 4 * plan.local_floats, 4 * plan.packed_floats, {}};
    const std::vector<std::string> schedules = describe(p, plan);
    for (std::size_t i = 0; i < p.regions.size(); ++i) d.regions.push_back({p.regions[i].title, schedules[i], flops_of(p.regions[i]), plan.accounts[i]});
    r.push_back(std::move(d));
  }
  return r;
}

std::string explain(const Graph& g, const GenerateOptions& o) {
  std::string r = to_text(g) + "\n";
  const Program p = regions_of(g);
  for (const MaskMap& m : mask_maps(g, 64)) {
    r += fmt::format("{} keeps {}\n{}\n", m.title, m.predicate, draw(m.map));
    if (!m.empty_rows.empty()) r += fmt::format("{} rows keep nothing and are 0, the first of them row {}\n\n", m.empty_rows.size(), m.empty_rows[0]);
  }
  for (const std::string& n : o.isas) {
    const Isa costed = target(n, o.machines);
    const Schedule plan = scheduled(p, costed, n, o);
    r += fmt::format("{}: workspace {} bytes and {} a worker, packed weights {} bytes\n", n, 4 * plan.workspace_floats, 4 * plan.local_floats, 4 * plan.packed_floats);
    for (const std::string& line : describe(p, plan)) r += "  " + line + "\n";
    r += accounts(p, plan);
  }
  return r;
}

}  // namespace attune
