#include <fmt/format.h>

#include "emit/files.h"
#include "emit/print.h"

namespace attune::emit {

long floats_of(const Tensor& t) {
  long n = 1;
  for (long d : t.dims) n *= d;
  return n;
}

static std::string shape(const Tensor& t) { return fmt::format("[{}]", fmt::join(t.dims, ", ")); }

static std::string pointers(const std::vector<Tensor>& tensors, const char* type) {
  std::string r;
  for (const Tensor& t : tensors) r += fmt::format("  {}* {};  // {}\n", type, t.name, shape(t));
  return r;
}

std::string header(const Signature& s) {
  double bytes = 0;
  for (const auto* list : {&s.inputs, &s.outputs, &s.weights})
    for (const Tensor& t : *list) bytes += 4.0 * double(floats_of(t));
  std::string r = comment(fmt::format("{}, made from the spec {} by", s.name, s.spec));
  r += comment("  " + s.command);
  r += fmt::format(R"(#ifndef ATTUNE_{0}_H
#define ATTUNE_{0}_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {{
#endif

// Dense, row-major. Outputs may not overlap anything else.
typedef struct {0}_args {{
{1}{2}}} {0}_args;

)",
                   s.name, pointers(s.inputs, "const float"), pointers(s.outputs, "float"));
  if (!s.weights.empty())
    r += fmt::format(R"(// Matrices are [out, in], as in torch.nn.Linear.
typedef struct {0}_weights {{
{1}}} {0}_weights;

)",
                     s.name, pointers(s.weights, "const float"));
  else if (s.packs) r += fmt::format("typedef struct {0}_weights {0}_weights;  // there are none; pass null\n\n", s.name);
  r += fmt::format(R"(// Runs body(state, item, worker) for every item below `items`, in any order, on any threads; worker
// is below `workers`, and no two calls at a time share one.
typedef void (*{0}_parallel_for)(void* ctx, long items,
    void (*body)(void* state, long item, int worker), void* state);

enum {{
  {0}_ok,
  {0}_null,
  {0}_workspace_small,
  {0}_workspace_misaligned,
  {0}_alias,
  {0}_no_isa
}};

#define {0}_FLOPS {1:.0f}.0  // of one call, removed pairs not counted
#define {0}_BYTES {2:.0f}.0  // of inputs, outputs and weights

// Bytes of scratch memory, 64-byte aligned, that a call with this many workers needs.
size_t {0}_workspace_bytes(int workers);
)",
                   s.name, s.flops, bytes);
  r += fmt::format("// Bytes of packed weights, 64-byte aligned; packed on one CPU, they serve CPUs of the same ISA.\nsize_t {0}_packed_bytes(void);\n", s.name);
  if (s.packs) r += fmt::format("void {0}_pack_weights(const {0}_weights* weights, void* packed);\n", s.name);
  r += fmt::format(R"(// Checks the arguments first and returns one of the codes above. A null parallel_for is serial{1}.
int {0}_checked(const {0}_args* args, const void* packed, void* workspace, size_t workspace_bytes,
    int workers, {0}_parallel_for parallel_for, void* ctx);
// The same without any check.
void {0}(const {0}_args* args, const void* packed, void* workspace, int workers,
    {0}_parallel_for parallel_for, void* ctx);

#ifdef __cplusplus
}}
#endif
#endif
)",
                   s.name, s.packs ? "" : ";\n// packed is not read");
  return r;
}

}  // namespace attune::emit
