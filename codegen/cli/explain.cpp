#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/host/process.h"
#include "cli/measured.h"
#include "cli/page/page.h"
#include "cli/picture.h"
#include "graph/print.h"

namespace attune::cli {

// FILE.png of the first mask, FILE_2.png of the second ..
static void draw_masks(const Graph& graph, const std::filesystem::path& file) {
  constexpr long most_blocks = 128;
  if (file.extension() != ".png") throw Error(fmt::format("'{}': the picture is a PNG; name it so", file.string()));
  const std::vector<MaskMap> masks = mask_maps(graph, most_blocks);
  if (masks.empty()) throw Error("this spec has no mask of which a picture could be made");
  for (std::size_t i = 0; i < masks.size(); ++i) {
    std::filesystem::path one = file;
    if (i > 0) one.replace_filename(fmt::format("{}_{}.png", file.stem().string(), i + 1));
    write_picture(one, masks[i].map);
    fmt::print("{}: what {} keeps, {} x {} scores a block\n", one.string(), masks[i].title, masks[i].map.q_step, masks[i].map.kv_step);
  }
}

// Times in thousands of cycles, as in the table.
static nlohmann::ordered_json json_of(const Account& a) {
  const auto k = [](long thousandths) { return double(thousandths) / 1e6; };
  return {{"kilocycles", k(a.total())}, {"products", k(a.products)}, {"weights", k(a.weights)}, {"loads", k(a.loads)}, {"l2", k(a.l2)}, {"memory", k(a.memory)}, {"latency", k(a.latency)}, {"tiles", k(a.tiles)}, {"rows", k(a.rows)},
          {"busy", {{"fma", k(a.busy.fma)}, {"loads", k(a.busy.loads)}, {"l2", k(a.busy.l2)}, {"memory", k(a.busy.memory)}}},
          {"bytes", {{"l2", a.traffic.l2}, {"memory", a.traffic.memory}}}};
}

static nlohmann::ordered_json json_of(const Measured& m) {
  const auto figures = [](const Measured::Figures& f) { return nlohmann::ordered_json{{"cycles", f.cycles}, {"seconds", f.seconds}, {"percent_of_peak", f.percent}}; };
  return {{"predicted", figures(m.predicted)}, {"predicted_all", m.complete}, {"best", figures(m.best)}, {"median", figures(m.median)}, {"repetitions", m.repetitions}};
}

static nlohmann::ordered_json json_of(const Spec& spec, const std::vector<Decided>& all, const std::vector<Measured>& timed) {
  using Json = nlohmann::ordered_json;
  Json masks = Json::array(), isas = Json::array();
  for (const MaskMap& m : mask_maps(spec.graph, 64)) {
    const BlockCounts blocks = count_blocks(m.map);
    masks.push_back({{"region", m.title}, {"keeps", m.predicate}, {"block", {m.map.q_step, m.map.kv_step}}, {"all", blocks.all}, {"mixed", blocks.mixed}, {"none", blocks.none}, {"rows_without_any", m.empty_rows.size()}});
  }
  for (const Decided& d : all) {
    Json regions = Json::array();
    for (const Decided::Region& r : d.regions) regions.push_back({{"region", r.title}, {"schedule", r.schedule}, {"flops", r.flops}, {"model", r.account ? json_of(*r.account) : Json()}});
    isas.push_back({{"isa", d.isa}, {"machine", text_of(d.machine)}, {"workspace_bytes", d.workspace_bytes}, {"worker_bytes", d.worker_bytes}, {"packed_bytes", d.packed_bytes}, {"regions", regions}});
    for (const Measured& m : timed)
      if (m.isa == d.isa) isas.back()["measured"] = json_of(m);
  }
  return {{"spec", spec.expression}, {"flops", flops_of(spec.graph)}, {"graph", to_text(spec.graph)}, {"masks", masks}, {"isas", isas}};
}

int explain(const Common& common, const std::string& map, const std::string& html, bool measure, JsonOutput& json) {
  const Spec spec = one_spec(common.wanted);
  const GenerateOptions options = options_for(spec, common);
  const std::string text = attune::explain(spec.graph, options);
  const std::vector<Decided> all = decided(spec.graph, options);
  std::vector<std::string> lacking;
  const std::vector<Measured> timed = measure ? measured(spec, options, all, lacking) : std::vector<Measured>();
  if (!map.empty()) draw_masks(spec.graph, map);
  if (!html.empty()) host::write_whole(html, page::page(spec, options, all, timed));
  fmt::print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
  fmt::print("{}", text_of(timed));
  if (!lacking.empty()) fmt::print(stderr, "attune: this CPU can't run {}: not measured\n", fmt::join(lacking, ", "));
  if (json.wanted()) json.write(json_of(spec, all, timed));
  return 0;
}

}  // namespace attune::cli
