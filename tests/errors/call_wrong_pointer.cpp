// expect: attune::call or attune::pack: an argument is no pointer of the right kind; inputs are const float* or, of tables of integers, const int32_t*, outputs float*
// shows: 'o', 'u', 't'
#include <attune/call.h>
using namespace attune::literals;

struct kernel_args {
  const float* x;
  float* out;
};
typedef void (*kernel_parallel_for)(void* ctx, long items, void (*body)(void* state, long item, int worker), void* state);
void kernel(const kernel_args*, const void*, void*, int, kernel_parallel_for, void*);

namespace attune {
template <>
inline constexpr auto fields<kernel_args> = hana::make_map(
    "x"_a = &kernel_args::x,
    "out"_a = &kernel_args::out);
}  // namespace attune

void user(const float* x, float* y) {
#ifdef MISTAKE
  attune::call(kernel, {nullptr, nullptr}, "x"_a = x, "out"_a = x);  // here
#else
  attune::call(kernel, {nullptr, nullptr}, "out"_a = y, "x"_a = x);
#endif
  (void)y;
}
