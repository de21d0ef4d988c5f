// Random graphs of the language.
#pragma once
#include <attune/graph.h>

#include <cstdint>

namespace attune::fuzz {

// The graph of a seed: the same on every machine. It keeps to the rules of shape; whether it is a
// graph that the verifier accepts is open (a removed pair may weigh something, for example).
Graph random_graph(std::uint64_t seed);

}  // namespace attune::fuzz
