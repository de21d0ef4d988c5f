// The description of this machine that schedules are costed against, by micro-measurement.
#pragma once
#include <string>

#include "isa/machine.h"

namespace attune::bench {

// What one core does in a cycle with vectors of the ISA, which this CPU must run: rates and latency of
// multiply-adds and loads, traffic, sizes of the caches. Each is a loop of assembly of nothing else,
// timed in turns with multiply-adds in registers and taken as the median ratio to them, so that no
// clock is needed and other processes do little harm; no kernel is timed. What can't be measured so, and everything on CPUs
// other than x86-64, is the ISA's default. Takes a fraction of a second.
Machine measure_machine(const std::string& isa);

}  // namespace attune::bench
