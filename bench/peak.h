// The machine's peak of multiply-adds, measured.
#pragma once
#include <string>

namespace attune::bench {

// FLOP/s that one core reaches with nothing but independent multiply-adds in registers of the
// ISA's width; takes about 0.2 ms. Where an ISA has no FMA, of as many multiplications as additions.
double peak_flops(const std::string& isa);

}  // namespace attune::bench
