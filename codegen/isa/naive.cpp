#include "isa/naive.h"

#include "isa/tables.h"

namespace attune {

Isa naive_isa() {
  Isa isa;
  isa.name = "naive";
  isa.lanes = 1;
  isa.registers = 16;
  isa.headers = "#include <math.h>\n";
  isa.ops = {
      {"exp", "static inline float exp(float x) { return expf(x); }\n", {}},
      {"log", "static inline float log(float x) { return logf(x); }\n", {}},
      {"tanh", "static inline float tanh(float x) { return tanhf(x); }\n", {}},
      {"min", "static inline float min(float a, float b) { return a < b ? a : b; }\n", {}},
      {"max", "static inline float max(float a, float b) { return a > b ? a : b; }\n", {}},
      {"floor_div", "static inline long floor_div(long a, long b) { return a / b - (a % b < 0); }\n", {}},
      {"floor_mod", "static inline long floor_mod(long a, long b) { return (a % b + b) % b; }\n", {}},
      {"set_float_state", "static inline unsigned set_float_state() { return 0; }\n", {}},
      {"restore_float_state", "static inline void restore_float_state(unsigned) {}\n", {}},
  };
  return isa;
}

}  // namespace attune
