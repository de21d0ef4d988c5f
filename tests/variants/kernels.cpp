// Every variant lowers to one streaming region per attention, with nothing of it stored, and its kernels
// agree with the interpreter. The masks take turns with the ISAs; everything else runs on each.
#include <catch2/catch.hpp>

#include "cli/host/inputs.h"
#include "passes/fuse.h"
#include "passes/pipeline.h"
#include "variants/list.h"

using namespace attune;
using namespace numerics;

namespace {

void check_subject(const Subject& s) {
  for (const host::Case& c : host::check_cases(s.graph(), s.interface())) {
    INFO(c.name);
    check_close(s, s(c.values), interpret_outputs(s.graph(), c.values), c.finite);
  }
}

std::vector<Spec> large(const std::vector<variants::Variant>& all, std::size_t first = 0, std::size_t step = 1) {
  std::vector<Spec> r;
  for (std::size_t i = first; i < all.size(); i += step) r.push_back(all[i].large);
  return r;
}

}  // namespace

TEST_CASE("Every variant is streams and projections, and no plain loops", "[variants]") {
  std::vector<Spec> all = variants::zoo_families();
  for (const auto& list : {variants::masks(), variants::others()})
    for (const variants::Variant& v : list) all.push_back(v.large);
  for (const Spec& s : all) {
    INFO(s.name);
    long products = 0, streams = 0;
    Graph g = s.graph;
    for (const Pass& p : passes()) g = p.run(g);
    for (const Node& n : g.nodes) products += n.op == Op::matmul && n.type.kind == Kind::tensor;
    for (const Region& r : fuse(g).regions) {
      streams += std::holds_alternative<Stream>(r.work);
      CHECK(!std::holds_alternative<Product>(r.work));
      CHECK(!std::holds_alternative<RowReduce>(r.work));
    }
    CHECK(streams == products);
  }
}

TEST_CASE("Kernels of every family of the zoo agree with the interpreter", "[variants]") { for_each_subject(variants::zoo_families(), check_subject); }

TEST_CASE("Masked kernels agree with the interpreter", "[variants]") {
  const std::vector<variants::Variant> all = variants::masks();
  for (std::size_t i = 0; i < targets().size(); ++i) for_each_subject(large(all, i, targets().size()), {targets()[i]}, check_subject);
}

TEST_CASE("Kernels of all other variants agree with the interpreter", "[variants]") {
  for_each_subject(large(variants::others()), check_subject);
}
