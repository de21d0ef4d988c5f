// The files of a kernel: NAME.h, NAME.hpp, NAME.cpp, one NAME_<isa>.cpp per ISA and, if asked for, NAME.py.
#pragma once
#include <string>
#include <vector>

#include "loops/kernel.h"

namespace attune::emit {

struct Tensor {
  std::string name;
  std::vector<long> dims;
  bool integers = false;  // int32, else f32
};

// What the files of one kernel share.
struct Signature {
  std::string name;  // prefix of every symbol
  std::string spec, command;
  std::vector<Tensor> inputs, outputs, weights;
  double flops = 0;
  bool packs = false;  // there is something to pack
  std::string source;  // the text of the spec, if there is any
};

// The interface, for C and C++.
std::string header(const Signature&);
// Named arguments over dsl/attune/call.h.
std::string named_arguments(const Signature&);
// For NumPy: compiles the C++ beside it, of these ISAs, and calls it.
std::string python(const Signature&, const std::vector<std::string>& isas);
// `tests`: of each ISA in `isas`, the expression that says whether this CPU has it.
std::string dispatcher(const Signature&, const std::vector<std::string>& isas, const std::vector<std::string>& tests);
// `notes`: what was decided, for the comment at the top.
std::string kernel(const Signature&, const Isa&, const loops::Kernel&, const std::vector<std::string>& notes);

long floats_of(const Tensor&);
// The comment that opens every file: what it is, and the command that made it.
std::string opening(const Signature&, const std::string& what);
// What a call costs, and the spec as its author wrote it, as a comment.
std::string spec_text(const Signature&);

}  // namespace attune::emit
