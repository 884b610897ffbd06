// Variables of the environment by which OpenMP's runtimes decide how many threads a program has and where they run.
#pragma once

namespace roof {

/// Every number and every place of threads is this program's own: its rows say them. So OpenMP's runtime does not see OMP_PROC_BIND,
/// OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY, KMP_HW_SUBSET, OMP_THREAD_LIMIT, KMP_DEVICE_THREAD_LIMIT, OMP_DYNAMIC,
/// OMP_MAX_ACTIVE_LEVELS, OMP_STACKSIZE, GOMP_STACKSIZE and KMP_STACKSIZE. They are taken out before the runtime is initialized: it would
/// bind the first thread before main(). This puts them back, for the programs that this one starts. The first line of main() calls it.
void restore_openmp_variables();

}  // namespace roof
