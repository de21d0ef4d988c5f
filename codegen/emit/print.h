// Loops as C++ text that reads as written by hand.
#pragma once
#include <string>
#include <utility>
#include <vector>
#include "loops/ir.h"

namespace attune::emit {

std::string text(const loops::Expr&);
std::string text(const loops::Body&, int indent);
// `assembly` stands for the body where the macro `plain` is not defined; empty: none.
std::string text(const loops::Function&, const std::string& assembly = {}, const std::string& plain = {});
// Whether its body uses a name.
bool reads(const loops::Function&, const std::string& name);

// wrap.cpp: a statement broken at 100 columns, where a comma or an operator lets it; no newline at
// its end.
std::string wrapped(const std::string& statement, int indent, int columns = 100);
// Prose as comment lines of at most 100 columns; of a list item, "- ..", the lines are indented.
std::string comment(const std::string& prose, int indent = 0);
// Lines of code with the comments behind them, one below the other.
std::string with_comments(const std::vector<std::pair<std::string, std::string>>& lines);

}  // namespace attune::emit
