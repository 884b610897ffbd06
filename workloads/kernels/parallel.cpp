#include "workloads/kernels/parallel.hpp"

#include "ert/base/error.hpp"

#include <string>

namespace roof::kernels {

void require_team(int threads)
{
    omp_set_dynamic(0);
    int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    given = omp_get_num_threads();
    if (given != threads)
        throw Error("OpenMP gave " + std::to_string(given) + " threads where " + std::to_string(threads) +
                    " were asked for: part of the step would not be computed; see OMP_THREAD_LIMIT");
}

}  // namespace roof::kernels
