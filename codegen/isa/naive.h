// The reference's "ISA": one float at a time, the C library's functions, whatever flags its
// compiler is given.
#pragma once
#include "isa/isa.h"

namespace attune {

Isa naive_isa();

}  // namespace attune
