// A generated kernel, compiled and loaded into this process, and the buffers that it is called with.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "cli/host/target.h"
#include "graph/interpret.h"

namespace attune::host {

// Dense f32 storage on a 64-byte boundary, a page at least.
class Buffer {
 public:
  explicit Buffer(std::size_t floats);
  float* data() const { return p_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> p_;
  std::size_t size_;
};

// Buffers for the arguments of one spec, filled from bindings. Outputs start as NaN, so that an
// element that a kernel does not write is seen.
struct Arguments {
  Arguments(const Interface&, const Bindings&);
  std::vector<Buffer> inputs, outputs, weights;
  // NAME_args and NAME_weights are structs of pointers alone, so arrays of pointers.
  std::vector<const void*> args, weight_pointers;
};

// The C functions of a generated kernel (DESIGN.md, "The contract of generated code").
class Kernel {
 public:
  // Writes `files` to `folder`, compiles them with `flags` and loads the result. Throws Error with
  // the compiler's first error if they don't compile, or if a symbol is missing.
  Kernel(const std::vector<SourceFile>& files, const std::string& name, const std::filesystem::path& folder, const std::vector<std::string>& flags);
  ~Kernel();
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) = delete;

  // Must come before the first call; weights are read only here.
  void pack(const Arguments&);
  // One call on one thread. Returns the code of NAME_checked.
  int checked(const Arguments&) const;
  // The same without checks: what is timed.
  void operator()(const Arguments&) const;

 private:
  struct Symbols;
  std::unique_ptr<Symbols> symbols_;
  std::unique_ptr<Buffer> packed_, workspace_;
  std::size_t workspace_bytes_ = 0;
};

// How far the outputs are from what the interpreter says.
struct Deviation {
  double max_error = 0;   // of elements that the interpreter says are finite
  double over_bound = 0;  // the largest error / bound; infinite where an element is or isn't finite against what was promised
  std::string where;      // the worst element, as out[i]
  bool ok() const { return over_bound <= 1; }
};
// Where the right value is finite the kernel's must be, and within the bound; where it is not, the
// kernel's must not be either. With finite inputs an infinite value (the LSE of an empty row) must be that infinity.
Deviation compare(const Interface&, const Arguments&, const std::vector<Array>& expected, bool finite_inputs);

}  // namespace attune::host
