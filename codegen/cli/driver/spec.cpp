// Compiled at run time, once for each spec that is not a named one: hands its graph to the program
// that loaded it. Both expand to what the user wrote.
#include <attune.h>
#include ATTUNE_SPEC_HEADER

namespace zoo {}

extern "C" const unsigned attune_spec_language = attune::language;

extern "C" void attune_spec_graph(attune::Graph& graph) {
  using namespace attune;
  using namespace zoo;
  graph = graph_of(ATTUNE_SPEC_EXPR);
}
