// libgomp keeps its threads between parallel regions of the same size, so an affinity set in one region stays for the
// next.
#include "cpu/affinity.hpp"

#include "ert/base/error.hpp"
#include "ert/base/processors.hpp"

#include <atomic>
#include <cstring>
#include <exception>
#include <string>

#include <omp.h>

namespace roof::cpu {

PinnedTeam::PinnedTeam(const std::vector<int>& processors) : before_(processors.size())
{
    if (processors.empty()) throw Error("a team of threads needs at least one processor");
    run([&](int thread) { before_[thread] = processors_of_thread(); });
    try {
        run([&](int thread) {
            if (const int error = keep_thread_to({processors[thread]}); error != 0)
                throw Error("cannot run a thread on processor " + std::to_string(processors[thread]) + ": " +
                            std::strerror(error));
        });
    } catch (...) {
        restore();
        throw;
    }
}

PinnedTeam::~PinnedTeam()
{
    restore();
}

void PinnedTeam::run(const std::function<void(int)>& work) const
{
    std::exception_ptr error;
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    int given = 0;
#pragma omp parallel num_threads(size())
    {
#pragma omp single
        given = omp_get_num_threads();
        if (given == size()) {
            try {
                work(omp_get_thread_num());
            } catch (...) {
                if (!failed.test_and_set()) error = std::current_exception();
            }
        }
    }
    require_team(given, size());
    if (error) std::rethrow_exception(error);
}

void PinnedTeam::restore() const
{
#pragma omp parallel num_threads(size())
    if (omp_get_thread_num() < size()) keep_thread_to(before_[omp_get_thread_num()]);
}

}  // namespace roof::cpu
