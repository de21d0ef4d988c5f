// A kernel's parallel_for by OpenMP. C++17; compile and link with -fopenmp.
//
//   attune::OpenMp threads;  // as many as OMP_NUM_THREADS says, or {4}
//   my_attention(&args, packed, workspace, threads.workers(), threads.parallel_for, &threads);
#pragma once
#ifndef _OPENMP
  #error "<attune/threads/openmp.h> needs OpenMP: compile and link with -fopenmp, or with THREADS openmp in CMake"
#endif
#include <omp.h>

namespace attune {

struct OpenMp {
  int count = omp_get_max_threads();
  int workers() const { return count; }

  // Items in their order, each to the thread that is free first; `self` is the OpenMp.
  static void parallel_for(void* self, long items, void (*body)(void* state, long item, int worker), void* state) {
#pragma omp parallel for num_threads(static_cast<OpenMp*>(self)->count) schedule(dynamic)
    for (long i = 0; i < items; ++i) body(state, i, omp_get_thread_num());
  }
};

}  // namespace attune
