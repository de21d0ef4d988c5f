// `attune explain --html`: what was decided, as one page for people that needs nothing beside it.
#pragma once
#include <string>

#include "cli/measured.h"
#include "cli/specs.h"
#include "lower.h"

namespace attune::cli::page {

// The whole page. Compiles the kernel of one ISA, where there is a compiler, to show its machine code.
// `all`: what was decided on each of the ISAs; `timed`: of some or none of them, what was measured.
std::string page(const Spec&, const GenerateOptions&, const std::vector<Decided>& all, const std::vector<Measured>& timed);

// Its parts, as HTML.

// Boxes and arrows from the inputs downwards, as SVG (graph.cpp).
std::string graph_picture(const Graph&);

// Which blocks of scores are kept, as SVG with their shares below (mask.cpp).
std::string mask_picture(const MaskMap&);

// What a kernel keeps where, and what moves in a call (memory.cpp).
std::string memory(const Interface&, const Decided&);

// What the model predicts beside what was measured, as a table (time.cpp).
std::string time_measured(const Measured&);

// A bar a region of what its time is made of, and the table of the same (time.cpp).
std::string time_by_the_model(const Decided&);

// Each region between the peak of the arithmetic and what L2 and memory hand over, as SVG; empty if the model knows
// the traffic of none (roofline.cpp).
// `timed`: also where the whole call is as measured; null: it was not.
std::string roofline(const Decided&, const Measured* timed);

// The source of the hottest tile beside its machine code, or why there is none to show (code.cpp). `all`: what was
// decided on each of the ISAs.
std::string code(const Graph&, const GenerateOptions&, const std::vector<Decided>& all);

}  // namespace attune::cli::page
