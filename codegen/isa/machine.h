// What one core of a machine does in a cycle, as data: schedules are costed against it.
#pragma once
#include <string>

namespace attune {

// Rates and slots are in hundredths, so that every cost is an integer and a ranking the same wherever it
// is computed. Vectors are those of the ISA that the description belongs to.
struct Machine {
  long fma = 0;          // multiply-adds of vectors a cycle
  long loads = 0;        // vectors that come from L1 in a cycle, beside as many multiply-adds,
  long broadcasts = 0;   // and floats that are broadcast
  long fma_latency = 0;  // cycles until a sum can be added to again
  long l1_bytes = 0, l2_bytes = 0;
  long l2_rate = 0;      // bytes a cycle that L2 hands to L1
  long memory_rate = 0;  // what comes from beyond L2 in sequence, where L2 runs ahead by itself,
  long asked_rate = 0;   // and where single lines are asked for
  long tile_cycles = 0;  // cycles lost where one tile's sums end and the next one's begin, without its loads and rows
  long exponential = 0;  // slots of multiply-adds that an exponential takes
  bool operator==(const Machine&) const = default;
};

// In words, on one line.
std::string text_of(const Machine&);

}  // namespace attune
