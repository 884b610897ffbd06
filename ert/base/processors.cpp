#include "ert/base/processors.hpp"

#include "ert/base/error.hpp"

#include <sched.h>

#include <cerrno>
#include <string>

namespace roof {

/// Sets of 1,024 processors, one behind the other: more than any kernel knows, which takes as many as it has.
constexpr std::size_t sets_of_processors = 512;
constexpr std::size_t bytes_of_processors = sets_of_processors * sizeof(cpu_set_t);

std::vector<int> processors_of_thread()
{
    std::vector<cpu_set_t> set(sets_of_processors);
    std::vector<int> processors;
    if (sched_getaffinity(0, bytes_of_processors, set.data()) != 0) return processors;
    for (std::size_t one = 0; one < 8 * bytes_of_processors; ++one)
        if (CPU_ISSET_S(one, bytes_of_processors, set.data())) processors.push_back(static_cast<int>(one));
    return processors;
}

int keep_thread_to(const std::vector<int>& processors)
{
    std::vector<cpu_set_t> set(sets_of_processors);
    for (const int one : processors) CPU_SET_S(static_cast<std::size_t>(one), bytes_of_processors, set.data());
    return sched_setaffinity(0, bytes_of_processors, set.data()) == 0 ? 0 : errno;
}

void require_team(int given, int asked)
{
    if (given != asked)
        throw Error("OpenMP gave " + std::to_string(given) + " threads where " + std::to_string(asked) +
                    " were asked for: part of the work would not be done; see OMP_THREAD_LIMIT and OMP_DYNAMIC");
}

}  // namespace roof
