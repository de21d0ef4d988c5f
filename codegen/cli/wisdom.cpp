#include "cli/wisdom.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "cli/host/process.h"
#include "cli/host/compiler.h"

namespace attune::cli {
namespace {

using nlohmann::json;
constexpr int version = 1;

json to_json(const Tile& t) { return json::array({t.rows, t.vectors}); }
Tile tile_of(const json& j) { return {j.at(0).get<int>(), j.at(1).get<int>()}; }

json to_json(const Choice& c) {
  if (const auto* p = std::get_if<ContractChoice>(&c)) return {{"tile", to_json(p->tile)}};
  if (const auto* s = std::get_if<StreamChoice>(&c)) return {{"scores", to_json(s->scores)}, {"values", to_json(s->values)}, {"columns", s->column_block}};
  return json::object();
}
Choice choice_of(const json& j) {
  if (j.contains("tile")) return ContractChoice{tile_of(j.at("tile"))};
  return StreamChoice{tile_of(j.at("scores")), tile_of(j.at("values")), j.at("columns").get<long>()};
}

json to_json(const WisdomEntry& e) {
  json schedule = json::object();
  for (const auto& [region, choice] : e.schedule) schedule[region] = to_json(choice);
  return {{"graph", e.graph}, {"spec", e.spec}, {"isa", e.isa}, {"cpu", e.cpu}, {"schedule", schedule}, {"median_percent", e.median_percent}, {"rounds", e.rounds}, {"compiler", e.compiler}};
}
WisdomEntry entry_of(const json& j) {
  WisdomEntry e{j.at("graph"), j.at("spec"), j.at("isa"), j.at("cpu"), {}, j.at("median_percent"), j.at("rounds"), j.at("compiler")};
  for (const auto& [region, choice] : j.at("schedule").items()) e.schedule[region] = choice_of(choice);
  return e;
}

// Each field of a machine by its name: rates in hundredths stand as decimals.
struct Field {
  const char* name;
  long Machine::*value;
  bool hundredths = true;
};
const Field fields[] = {{"fma", &Machine::fma}, {"loads", &Machine::loads}, {"broadcasts", &Machine::broadcasts}, {"fma_latency", &Machine::fma_latency}, {"l1_bytes", &Machine::l1_bytes, false}, {"l2_bytes", &Machine::l2_bytes, false}, {"l2_rate", &Machine::l2_rate}, {"memory_rate", &Machine::memory_rate}, {"asked_rate", &Machine::asked_rate}, {"tile_cycles", &Machine::tile_cycles}, {"exponential", &Machine::exponential}};

json to_json(const WisdomMachine& m) {
  json j = {{"isa", m.isa}, {"cpu", m.cpu}};
  for (const Field& f : fields) {
    if (f.hundredths) j[f.name] = double(m.machine.*f.value) / 100;
    else j[f.name] = m.machine.*f.value;
  }
  return j;
}
WisdomMachine machine_of(const json& j) {
  WisdomMachine m{j.at("isa"), j.at("cpu"), {}};
  for (const Field& f : fields) {
    const double value = j.at(f.name).get<double>() * (f.hundredths ? 100 : 1);
    if (!(value >= 1 && value < 1e12)) throw std::invalid_argument(fmt::format("{} of the machine of {} is {}", f.name, m.isa, j.at(f.name).dump()));
    m.machine.*f.value = std::lround(value);
  }
  return m;
}

bool same_subject(const WisdomEntry& a, const WisdomEntry& b) { return a.graph == b.graph && a.isa == b.isa && a.cpu == b.cpu && a.compiler == b.compiler; }

}  // namespace

Wisdom::Wisdom(std::string path) : path_(std::move(path)) { read(); }

// Joins what the file holds.
void Wisdom::read() {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return;
  std::ifstream in(path_);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw Error(fmt::format("cannot read {}", path_));
  json j;
  try {
    j = json::parse(text.str());
  } catch (const json::exception&) {
    throw Error(fmt::format("{} is no wisdom: it is not JSON", path_));
  }
  try {
    const int found = j.at("version");
    if (found != version) throw Error(fmt::format("{} is wisdom of version {}, and this is version {}: tune again into another file", path_, found, version));
    for (const json& e : j.at("entries")) merge(entry_of(e));
    for (const json& m : j.value("machines", json::array())) merge(machine_of(m));  // older files have none
  } catch (const json::exception& e) {
    throw Error(fmt::format("{} is no wisdom: {}", path_, e.what()));
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{} is no wisdom: {}", path_, e.what()));
  }
}

const WisdomEntry* Wisdom::find(const std::string& graph, const std::string& isa, const std::string& cpu) const {
  const WisdomEntry* best = nullptr;
  for (const WisdomEntry& e : entries_) {
    if (e.graph != graph || e.isa != isa) continue;
    const bool here = e.cpu == cpu;
    if (!best || (here && best->cpu != cpu) || (here == (best->cpu == cpu) && e.median_percent > best->median_percent)) best = &e;
  }
  return best;
}

void Wisdom::merge(const WisdomEntry& e) {
  for (WisdomEntry& old : entries_)
    if (same_subject(old, e)) {
      if (e.schedule.size() > old.schedule.size() || (e.schedule.size() == old.schedule.size() && e.median_percent > old.median_percent)) old = e;
      return;
    }
  entries_.push_back(e);
}

void Wisdom::merge(const WisdomMachine& m) {
  for (WisdomMachine& old : machines_)
    if (old.isa == m.isa && old.cpu == m.cpu) {
      old = m;
      return;
    }
  machines_.push_back(m);
}

// Joined with what others wrote to the file meanwhile.
template <class Known>
void Wisdom::write_with(const Known& known) {
  read();
  merge(known);
  json machines = json::array(), entries = json::array();
  for (const WisdomMachine& m : machines_) machines.push_back(to_json(m));
  for (const WisdomEntry& e : entries_) entries.push_back(to_json(e));
  host::write_whole(path_, json{{"version", version}, {"machines", machines}, {"entries", entries}}.dump(1) + "\n");
}

void Wisdom::add(const WisdomEntry& e) { write_with(e); }
void Wisdom::add(const WisdomMachine& m) { write_with(m); }

const WisdomMachine* Wisdom::machine(const std::string& isa, const std::string& cpu) const {
  const WisdomMachine* best = nullptr;
  for (const WisdomMachine& m : machines_)
    if (m.isa == isa && (!best || (m.cpu == cpu && best->cpu != cpu))) best = &m;
  return best;
}

Machines Wisdom::machines(const std::vector<std::string>& isas) const {
  Machines r;
  const std::string cpu = cpu_id();
  for (const std::string& isa : isas)
    if (const WisdomMachine* m = machine(isa, cpu)) r[isa] = m->machine;
  return r;
}

std::map<std::string, Choices> Wisdom::schedules(const Graph& g, const std::vector<std::string>& isas) const {
  std::map<std::string, Choices> r;
  const std::string graph = graph_hash(g), cpu = cpu_id();
  for (const std::string& isa : isas) {
    if (const WisdomEntry* e = find(graph, isa, cpu)) r[isa] = choices_of(*e, decisions(g, isa));
  }
  return r;
}

Choices choices_of(const WisdomEntry& e, const std::vector<Decision>& all) {
  Choices choices;
  for (const Decision& d : all)
    if (const auto c = e.schedule.find(d.title); c != e.schedule.end()) decide(choices, d.region, c->second);
  return choices;
}

std::string cpu_id() {
  std::ifstream in("/proc/cpuinfo");
  std::map<std::string, std::string> first;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    first.try_emplace(key, colon + 2 <= line.size() ? line.substr(colon + 2) : "");
  }
  const auto field = [&](const char* name) { return first.count(name) ? first[name] : std::string("unknown"); };
  return fmt::format("{}-{}-{}-{}", field("vendor_id"), field("cpu family"), field("model"), field("stepping"));
}

std::string compiler_id() {
  std::vector<std::string> command = host::compiler();
  command.push_back("--version");
  std::istringstream text(host::run(command).output);
  std::string first_line;
  std::getline(text, first_line);
  return first_line;
}

}  // namespace attune::cli
