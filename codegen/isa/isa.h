// Targets as data: each ISA is a table of small operations, written out at the top of a generated
// file, so that the body below reads the same on every one.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// One operation or type: its C++ text (possibly several overloads) and the names that it uses.
struct OpText {
  std::string name;
  std::string text;
  std::vector<std::string> needs;
};

// The default machine of an ISA, against which schedules are costed: instructions a cycle,
// latency in cycles, sizes in bytes.
struct Machine {
  int fma_per_cycle, loads_per_cycle, fma_latency;
  long l1_bytes, l2_bytes;
};

struct Isa {
  std::string name;
  int lanes;      // floats in a vec
  int registers;  // vecs that fit in the register file
  Machine machine;
  std::string headers;      // before `open`, outside of any namespace
  std::string open, close;  // around the code: target pragmas for GCC and Clang, so that no -m flag is needed
  std::string cpu_test;     // true at run time where the code may be called
  std::vector<OpText> ops;  // every op after those that it needs
};

// The table of an ISA. Throws std::out_of_range with the list of known names.
const Isa& isa(std::string_view name);

// "portable", "avx2", "avx512".
std::vector<std::string> isa_names();

// The same name, lanes and op names in portable C++ without pragmas: runs kernels of that shape on
// any host. Uses AVX2 and FMA where the compiler's flags allow them, else fmaf from libm.
Isa emulated(const Isa&);

// The text of the ops in `used` and of all that they need, in table order. Throws
// std::out_of_range for a name that the table lacks.
std::string prelude(const Isa&, const std::set<std::string>& used);

// Whether this CPU runs the code of an ISA, asked at run time.
bool host_supports(std::string_view isa);

}  // namespace attune
