// OpenMP for the kernels. A range's loop is a function, compiled per instruction set, which an OpenMP region cannot be.
#pragma once

#include "ert/base/processors.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace roof::kernels {

/// Calls loop(begin, end) in every thread. The ranges are whole cache lines of fp32 numbers and cover [0, count).
template <class Loop>
void for_ranges(std::size_t count, Loop loop)
{
    constexpr std::size_t line = 16;
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t lines = (count + line - 1) / line;
        const std::size_t begin = std::min(count, lines * thread / threads * line);
        const std::size_t end = std::min(count, lines * (thread + 1) / threads * line);
        if (begin < end) loop(begin, end);
    }
}

/// Throws Error if OpenMP gives fewer threads: work is divided by the number that was asked for, and oneDNN waits for
/// each.
inline void require_team(int threads)
{
    omp_set_dynamic(0);
    int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    given = omp_get_num_threads();
    roof::require_team(given, threads);
}

/// Sets the thread count of OpenMP, and so of oneDNN, during its lifetime. OpenMP gives no fewer on a busy machine.
class ThreadCount {
  public:
    explicit ThreadCount(int threads) : before_(omp_get_max_threads())
    {
        omp_set_dynamic(0);
        omp_set_num_threads(threads);
    }
    ~ThreadCount() { omp_set_num_threads(before_); }
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

  private:
    int before_;
};

}  // namespace roof::kernels
