// Every variant lowers to one streaming region per attention, with nothing of it stored, and its kernels
// agree with the interpreter. They take turns with the ISAs; `./run fuzz` has each on every one.
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

std::vector<Spec> large(const std::vector<variants::Variant>& all) {
  std::vector<Spec> r;
  for (const variants::Variant& v : all) r.push_back(v.large);
  return r;
}

// Those of `all` whose turn it is, on the turn-th ISA.
void check_turn(const std::vector<Spec>& all, std::size_t turn) {
  std::vector<Spec> some;
  for (std::size_t i = turn; i < all.size(); i += targets().size()) some.push_back(all[i]);
  for_each_subject(some, {targets().at(turn)}, check_subject);
}
void check_in_turns(const std::vector<Spec>& all) {
  for (std::size_t turn = 0; turn < targets().size(); ++turn) check_turn(all, turn);
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

TEST_CASE("Kernels of every family of the zoo agree with the interpreter", "[variants]") { check_in_turns(variants::zoo_families()); }
TEST_CASE("Masked kernels agree with the interpreter", "[variants]") { check_in_turns(large(variants::masks())); }
// Of all other variants; a test each, since together they take longest.
TEST_CASE("Kernels of a third of the other variants agree with the interpreter on portable", "[variants]") { check_turn(large(variants::others()), 0); }
TEST_CASE("Kernels of another third of the other variants agree with the interpreter on avx2", "[variants]") { check_turn(large(variants::others()), 1); }
TEST_CASE("Kernels of the last third of the other variants agree with the interpreter on avx512", "[variants]") { check_turn(large(variants::others()), 2); }

TEST_CASE("Kernels of every variant on every ISA agree with the interpreter", "[.every-isa]") {
  for (const std::vector<Spec>& all : {variants::zoo_families(), large(variants::masks()), large(variants::others())}) for_each_subject(all, check_subject);
}
