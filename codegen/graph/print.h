// Graphs as text for people, and as Graphviz.
#pragma once
#include <attune/graph.h>

#include <string>
#include <string_view>

namespace attune {

// The op as the enumerator is spelled.
std::string_view name_of(Op);

// What the last operand of a row's reduction is: "scale" or "value".
std::string_view last_part(Op);

// "tensor<1,128,512>", "scores<1,8,128,128>", "integer".
std::string type_text(const Type&);

// An index expression as a user would write it: "kv_index <= q_index && q_index - kv_index < 4".
std::string expression_text(const Graph&, int node);

// A node without its number and type: "linear(%1, %2)". Index expressions stand in line.
std::string node_text(const Graph&, int node);

// A tensor or score matrix a line, then a line per output. Takes broken graphs too.
std::string to_text(const Graph&);

// The same as DOT: tensors are boxes, index expressions part of the label of what uses them.
std::string to_graphviz(const Graph&);

}  // namespace attune
