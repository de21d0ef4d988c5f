// Generated kernels under test: a spec, compiled for each ISA and called through its C interface.
#pragma once
#include <attune.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/host/inputs.h"
#include "cli/host/kernel.h"

namespace numerics {

using attune::Bindings;
using attune::Graph;
using Floats = std::vector<float>;
using Outputs = std::vector<Floats>;  // in the order of the spec

// An ISA, natively where this host can, else in portable C++.
struct Target {
  std::string isa;
  bool emulated = false;
  std::string label() const { return isa + (emulated ? " (emulated)" : ""); }
};
const std::vector<Target>& targets();

struct Spec {
  std::string name;  // unique; a C identifier
  Graph graph;
};
template <class F>
Spec spec(std::string name, F f) {
  return {std::move(name), attune::graph_of(f)};
}

// NAME_args and NAME_weights are structs of pointers alone, so arrays of pointers.
using Body = void (*)(void* state, long item, int worker);
using attune::host::ParallelFor;
struct Functions {
  std::size_t (*workspace_bytes)(int workers) = nullptr;
  std::size_t (*packed_bytes)() = nullptr;
  void (*pack_weights)(const void* weights, void* packed) = nullptr;  // null: nothing to pack
  int (*checked)(const void* args, const void* packed, void* workspace, std::size_t bytes, int workers, ParallelFor, void* ctx) = nullptr;
  void (*plain)(const void* args, const void* packed, void* workspace, int workers, ParallelFor, void* ctx) = nullptr;
};
enum Code { ok, null, workspace_small, workspace_misaligned, alias, no_isa };

// The files' shared library, from the cache of this build if an equal one was made before.
std::shared_ptr<const attune::host::Library> library_of(const std::vector<attune::SourceFile>&, const std::string& name, bool emulated);
// Where the cache keeps it.
std::string library_path(const std::vector<attune::SourceFile>&, const std::string& name, bool emulated);
Functions functions_of(const attune::host::Library&, const std::string& name);

// What a call needs, laid out before guard pages: an access past the end of anything is a fault,
// and so is a write to an input.
struct Memory {
  Memory(const attune::Interface&, const Functions&, const Bindings&, int workers = 1, bool unaligned = false);
  Outputs outputs() const;
  attune::host::Arguments arguments;
  attune::host::Buffer packed, workspace;
  std::size_t workspace_bytes;
  int workers;

 private:
  std::vector<attune::host::Buffer> shifted_;
};

class Subject {
 public:
  Subject(const Spec&, const Target&);

  // One checked call, whose code must be ok.
  Outputs operator()(const Bindings&, int workers = 1, ParallelFor = nullptr, void* ctx = nullptr) const;
  Outputs unaligned(const Bindings&) const;
  Outputs call(Memory&, ParallelFor = nullptr, void* ctx = nullptr) const;

  const std::string& name() const { return spec_.name; }
  const Graph& graph() const { return spec_.graph; }
  const attune::Interface& interface() const { return interface_; }
  const Functions& functions() const { return functions_; }
  const Target& target() const { return target_; }
  std::vector<attune::SourceFile> files() const;
  std::string path() const;  // of the shared library
  Memory memory(const Bindings& b, int workers = 1) const { return Memory(interface_, functions_, b, workers); }

 private:
  std::string library_name() const;
  const Spec& spec_;
  Target target_;
  attune::Interface interface_;
  std::shared_ptr<const attune::host::Library> library_;
  Functions functions_;
};

// Calls f for every spec on every ISA; compiles what is not in the cache first, in parallel.
void for_each_subject(const std::vector<Spec>&, const std::function<void(const Subject&)>& f);
void for_each_subject(const std::vector<Spec>&, const std::vector<Target>&, const std::function<void(const Subject&)>& f);

// ---- what results are held against ----------------------------------------------------------------

using Expected = std::vector<attune::Array>;
// Within the interpreter's bound of what it says, infinite or NaN only where it says so.
void check_close(const Subject&, const Outputs&, const Expected&, bool finite_inputs = true);
bool same_bits(const Floats&, const Floats&);
bool same_bits(const Outputs&, const Outputs&);
// How many elements are not finite.
long not_finite(const Floats&);

}  // namespace numerics
