// Loops as C++ text that reads as written by hand.
#pragma once
#include <string>
#include "loops/ir.h"

namespace attune::emit {

std::string text(const loops::Expr&);
std::string text(const loops::Body&, int indent);
std::string text(const loops::Function&);

// A statement broken at 100 columns, where a comma or an operator lets it.
std::string wrapped(const std::string& statement, int indent);
// Prose as comment lines of at most 100 columns.
std::string comment(const std::string& prose, int indent = 0);

}  // namespace attune::emit
