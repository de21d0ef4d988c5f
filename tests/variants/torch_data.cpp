// Every variant as PyTorch computes it in float64 (data made by make_torch_data.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "cli/host/inputs.h"
#include "variants/list.h"

using namespace attune;

TEST_CASE("the interpreter agrees with PyTorch on every variant", "[variants]") {
  std::ifstream file(ATTUNE_SOURCE_DIR "/tests/variants/data/torch.txt");
  std::string name;
  std::getline(file, name);  // the comment
  std::map<std::string, std::vector<double>> stored;
  for (std::size_t count = 0; file >> name >> count;) {
    std::vector<double>& values = stored[name];
    values.resize(count);
    for (double& v : values) file >> v;
  }
  std::size_t compared = 0;
  for (const auto& list : {variants::masks(), variants::others()})
    for (const variants::Variant& v : list) {
      INFO(v.small.name);
      const std::vector<Array> outputs = interpret_outputs(v.small.graph, host::standard_inputs(interface_of(v.small.graph)));
      for (std::size_t o = 0; o < outputs.size(); ++o, ++compared) {
        const std::string key = outputs.size() == 1 ? v.small.name : v.small.name + "." + std::string(v.small.graph.outputs[o].name);
        REQUIRE(stored.contains(key));
        const std::vector<double>& torch = stored.at(key);
        REQUIRE(outputs[o].v.size() == torch.size());
        double largest = 0, worst = 0;
        for (std::size_t i = 0; i < torch.size(); ++i) {
          largest = std::max(largest, std::abs(torch[i]));
          worst = std::max(worst, std::abs(torch[i] - outputs[o].v[i]));
        }
        CHECK(largest > 0.01);
        CHECK(worst <= 1e-6 * largest);  // seven digits are stored
      }
    }
  CHECK(compared == stored.size());
}
