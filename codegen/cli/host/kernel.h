// A generated kernel, compiled and loaded into this process, and the buffers that it is called with.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/host/compiler.h"
#include "graph/interpret.h"

namespace attune::host {

// Where a buffer lies: from the start of a page on, which is huge (2 MB) if the system has such, or
// up to a page that can't be touched, so that an access past its end is a fault. Kernels are timed
// with the first two and tested with the last.
enum class Place { on_page,
                   on_huge_page,
                   before_guard };

// Dense f32 storage, zero at first. On a 64-byte boundary, unless before a guard with a size that is
// no multiple of it.
class Buffer {
 public:
  explicit Buffer(std::size_t floats, Place = Place::on_page);
  float* data() const { return p_.get(); }
  std::size_t size() const { return size_; }
  // From now on a write is a fault. Before a guard only.
  void make_read_only();

 private:
  struct Free {
    void* mapping;  // null: from the heap
    std::size_t bytes;
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> p_;
  std::size_t size_;
};

// Buffers for the arguments of one spec, filled from bindings. Outputs start as NaN, so that an
// element that a kernel does not write is seen. Before guards, inputs and weights are read-only.
struct Arguments {
  Arguments(const Interface&, const Bindings&, Place = Place::on_page);
  void forget_outputs() const;  // NaN again
  std::vector<Buffer> inputs, outputs, weights;
  // NAME_args and NAME_weights are structs of pointers alone, so arrays of pointers.
  std::vector<const void*> args, weight_pointers;
};

// Generated files, of one kernel or of several, as a shared library in this process.
class Library {
 public:
  // Writes `files` to `folder`, compiles them with `flags` and loads the result. Throws Error with
  // the compiler's first error if they don't compile.
  Library(const std::vector<SourceFile>& files, const std::filesystem::path& folder, const std::vector<std::string>& flags);
  // Loads what was compiled before.
  explicit Library(const std::filesystem::path& shared_library);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  void* find(const std::string& symbol) const;  // null if there is none

 private:
  void load(const std::filesystem::path&);
  void* handle_ = nullptr;
};

// Who does the work of a call: the calling thread alone, or `count` workers to which parallel_for hands it.
using ParallelFor = void (*)(void* ctx, long items, void (*body)(void* state, long item, int worker), void* state);
struct Workers {
  int count = 1;
  ParallelFor parallel_for = nullptr;
  void* ctx = nullptr;
};

// How far the outputs are from what the interpreter says.
struct Deviation {
  double max_error = 0;   // of elements that the interpreter says are finite
  double over_bound = 0;  // the largest error / bound; infinite where an element is or isn't finite against what was promised, and where the call was refused
  std::string where;      // the worst element, as out[i]
  double got = 0, right = 0, bound = 0;  // there
  long compared = 0;      // elements that the interpreter says are finite
  long sharply = 0;       // of those: with a bound of less than a thousandth of 1 + |right|
  int code = 0;           // what NAME_checked returned; if it is not NAME_ok nothing was compared
  bool ok() const { return over_bound <= 1; }
  std::string fault() const;  // the worst element, or the code, in words
};
// Where the right value is finite the kernel's must be, and within the bound; where it is not, the
// kernel's must not be either. With finite inputs an infinite value (the LSE of an empty row) must be that infinity.
// Subnormals count as 0, and where the bound is beyond any meaning or the value near what f32 holds nothing is promised.
Deviation compare(const Interface&, const std::vector<const float*>& outputs, const std::vector<Array>& expected, bool finite_inputs);

// Workspace and packed weights. Kernels that take turns may share them, so that none is luckier with its pages
// than another; each packs again before its turn.
class Memory {
 public:
  explicit Memory(Place place = Place::on_page) : place_(place) {}
  // What lies there is lost where it grows.
  void make_room(std::size_t workspace_bytes, std::size_t packed_bytes);
  void* workspace() const { return workspace_ ? workspace_->data() : nullptr; }
  void* packed() const { return packed_ ? packed_->data() : nullptr; }  // null: no weights

 private:
  Place place_;
  std::unique_ptr<Buffer> workspace_, packed_;
};

// The C functions of a generated kernel (DESIGN.md, "The contract of generated code").
class Kernel {
 public:
  // Kernel `name` of the library, with memory of its own or this one. Throws Error if a symbol is missing.
  Kernel(std::shared_ptr<const Library>, const std::string& name, Place = Place::on_page, Workers = {});
  Kernel(std::shared_ptr<const Library>, const std::string& name, std::shared_ptr<Memory>, Workers = {});
  ~Kernel();
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) = delete;

  // Must come before the first call, and before one that follows another kernel's in the same memory; weights
  // are read only here.
  void pack(const Arguments&);
  // Packs, calls NAME_checked once, and compares.
  Deviation verify(const Interface&, const Arguments&, const std::vector<Array>& expected, bool finite_inputs);
  // One call without checks: what is timed.
  void operator()(const Arguments&) const;

 private:
  struct Symbols;
  std::unique_ptr<Symbols> symbols_;
  std::shared_ptr<Memory> memory_;
  std::size_t workspace_bytes_ = 0;
  Workers workers_;
};

}  // namespace attune::host
