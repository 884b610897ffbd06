#include "workloads/kernels/parallel.hpp"

#include "ert/base/processors.hpp"

namespace roof::kernels {

void require_team(int threads)
{
    omp_set_dynamic(0);
    int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    given = omp_get_num_threads();
    roof::require_team(given, threads);
}

}  // namespace roof::kernels
