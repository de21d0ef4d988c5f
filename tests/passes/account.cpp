// What the model says a kernel takes, and of what.
#include <catch2/catch.hpp>
#include <sstream>

#include "bench/machine.h"
#include "lower.h"
#include "passes/fuse.h"
#include "passes/pipeline.h"
#include "zoo/textbook.h"
#include "zoo/zoo.h"

using namespace attune;

namespace {

constexpr auto full = zoo::sdpa<1, 8, 384, 64, false>;
constexpr auto causal = zoo::sdpa<1, 8, 384, 64, true>;
constexpr auto block = zoo::textbook_mha<1, 128, 256, 4>;

GenerateOptions options(const std::string& isa) {
  GenerateOptions o;
  o.name = "k";
  o.spec = "a spec";
  o.isas = {isa};
  return o;
}

// The rows of explain's table: by a region's title, the numbers behind it.
std::map<std::string, std::vector<double>> table(const Graph& g, const GenerateOptions& o) {
  std::istringstream in(explain(g, o));
  std::map<std::string, std::vector<double>> r;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside && line.rfind("  ", 0) == 0) {
      std::istringstream words(line);
      std::string title;
      words >> title;
      for (double x; words >> x;) r[title].push_back(x);
    }
    inside = inside ? line.rfind("  ", 0) == 0 : line.find("by the model") != std::string::npos;
  }
  return r;
}

Machine avx512() { return isa("avx512").machine; }

}  // namespace

TEST_CASE("The parts of an account add up to its cycles") {
  for (const std::string isa : {"portable", "avx2", "avx512"}) {
    for (const Graph& g : {graph_of(full), graph_of(causal), graph_of(block)}) {
      const auto rows = table(g, options(isa));
      REQUIRE(rows.count("attention"));
      for (const auto& [title, x] : rows) {
        if (title == "thousands") continue;
        REQUIRE(x.size() == 10);  // cycles, percent, parts
        double sum = 0;
        for (std::size_t i = 2; i < x.size(); ++i) sum += x[i];
        CHECK(sum == Approx(x[0]).margin(0.5));  // each is rounded to a tenth
        CHECK(x[1] > 20);
        CHECK(x[1] <= 100);
      }
      double cycles = 0;
      for (const auto& [title, x] : rows)
        if (title != "thousands" && title != "together") cycles += x[0];
      if (rows.count("together")) CHECK(rows.at("together")[0] == Approx(cycles).margin(0.5));
      double ranked = 0;
      for (const Decision& d : decisions(g, isa)) ranked += d.ranked[0].cycles;
      CHECK(ranked == Approx(1000 * cycles).margin(300));
    }
  }
}

// 2 FLOPs a lane; 8 heads, 384 rows and columns, which 48 rows and tiles of 4, 6 or 8 divide.
TEST_CASE("The products of a full square take its multiply-adds' slots") {
  const auto rows = table(graph_of(full), options("avx512"));
  CHECK(rows.at("attention")[2] == Approx(8.0 * 384 * 384 * (64 + 64) / 16 / 2 / 1000).epsilon(1e-3));
  // Of causal pairs half are left out, less the tiles on the diagonal.
  const auto half = table(graph_of(causal), options("avx512"));
  CHECK(half.at("attention")[2] > 0.5 * rows.at("attention")[2]);
  CHECK(half.at("attention")[2] < 0.6 * rows.at("attention")[2]);
}

TEST_CASE("The operations of all regions are those of the graph") {
  for (const Graph& g : {graph_of(full), graph_of(causal), graph_of(block)}) {
    Program p = fuse(g);
    merge_contractions(p);
    double all = 0;
    for (const Region& r : p.regions) all += flops_of(r);
    CHECK(all == flops_of(g));
  }
}

TEST_CASE("A machine decides the order, and the same one the same") {
  const Graph g = graph_of(causal);
  const auto order = [&](const Machines& m) {
    const std::vector<Decision> all = decisions(g, "avx512", m);
    std::vector<std::string> r;
    for (const Ranked& x : all[0].ranked) r.push_back(text_of(x.choice));
    return r;
  };
  CHECK(order({{"avx512", avx512()}}) == order({{"avx512", avx512()}}));
  CHECK(order({{"avx512", avx512()}}) == order({}));

  const auto first = [&](const Machine& m) { return std::get<StreamChoice>(decisions(g, "avx512", {{"avx512", m}})[0].ranked[0].choice); };
  Machine slow = avx512();  // sums that wait so long that only their number counts
  slow.fma_latency = 5000;
  CHECK(first(slow).scores.rows * first(slow).scores.vectors > 24);
  CHECK(first(avx512()).scores.rows * first(avx512()).scores.vectors <= 24);
  Machine starved = avx512();  // loads and broadcasts cost all: as many multiply-adds of each as can be
  starved.loads = starved.broadcasts = 5;
  const Tile t = first(starved).values;
  CHECK(double(t.rows + t.vectors) / (t.rows * t.vectors) <= 10.0 / 24);
}

TEST_CASE("What is not chosen is generated for the machine that is given") {
  const Graph g = graph_of(causal);
  GenerateOptions o = options("avx512");
  const auto text = [&] { return generate(g, o).back().text; };
  const std::string usual = text();
  o.machines["avx512"] = avx512();
  CHECK(text() == usual);
  o.machines["avx512"].fma_latency = 5000;
  CHECK(text() != usual);
  o.schedules["avx512"] = {decisions(g, "avx512")[0].ranked[0].choice};
  CHECK(text() == usual);
}

// Bounds that any core of the last ten years is inside of, and sizes as the system says.
TEST_CASE("The machine is measured in a moment, and again the same") {
  for (const std::string& isa : isa_names()) {
    if (!host_supports(isa)) continue;
    const Machine m = bench::measure_machine(isa), again = bench::measure_machine(isa);
    INFO(isa << ": " << text_of(m) << " / " << text_of(again));
    CHECK(m.fma >= 20);
    CHECK(m.fma <= 450);
    CHECK(m.fma_latency >= 100);
    CHECK(m.fma_latency <= 1200);
    for (const auto field : {&Machine::loads, &Machine::broadcasts}) {
      CHECK(m.*field >= 25);
      CHECK(m.*field <= 450);
    }
    CHECK(m.l1_bytes >= 16 * 1024);
    CHECK(m.l1_bytes < m.l2_bytes);
    CHECK(m.l2_rate >= 400);
    CHECK(m.l2_rate <= 20000);
    CHECK(m.memory_rate < m.l2_rate);
    for (const auto field : {&Machine::fma, &Machine::loads, &Machine::broadcasts, &Machine::fma_latency, &Machine::l2_rate}) CHECK(double(m.*field) == Approx(double(again.*field)).epsilon(0.25));
  }
}
