// The textbook's module, as PyTorch computes it in float32 (data made by make_textbook_data.py).
#include <zoo/textbook.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "graph/reference.h"

using namespace attune;

namespace {

struct Case {
  std::vector<long> sizes;  // batch, seq, model, heads
  Bindings tensors;         // "out" is the result
};

std::vector<Case> stored_cases() {
  std::ifstream file(ATTUNE_SOURCE_DIR "/tests/graph/data/textbook_mha.txt");
  std::string word;
  std::getline(file, word);  // the comment
  std::vector<Case> r;
  while (file >> word) {
    if (word == "case") {
      r.push_back({std::vector<long>(4), {}});
      for (long& size : r.back().sizes) file >> size;
    } else {
      std::size_t count = 0;
      file >> count;
      std::vector<float>& values = r.at(r.size() - 1).tensors[word];
      values.resize(count);
      for (float& v : values) file >> v;
    }
  }
  return r;
}

void check(const Graph& g, const Case& c) {
  const Array y = reference::only_output(g, c.tensors);
  const std::vector<float>& torch = c.tensors.at("out");
  REQUIRE(y.v.size() == torch.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < torch.size(); ++i) {
    CHECK(std::abs(double(torch[i]) - y.v[i]) <= y.bound[i]);
    largest = std::max(largest, std::abs(y.v[i]));
    worst = std::max(worst, std::abs(double(torch[i]) - y.v[i]));
  }
  CHECK(largest > 0.1);
  CHECK(worst <= 1e-6 * largest);
}

}  // namespace

TEST_CASE("the interpreter agrees with PyTorch on the textbook's module") {
  const std::vector<Case> cases = stored_cases();
  REQUIRE(cases.size() == 2);
  REQUIRE(cases[0].sizes == std::vector<long>{1, 5, 16, 4});
  REQUIRE(cases[1].sizes == std::vector<long>{2, 7, 16, 2});
  check(graph_of(zoo::textbook_mha_plain<1, 5, 16, 4>), cases[0]);
  check(graph_of(zoo::textbook_mha_plain<2, 7, 16, 2>), cases[1]);
}
