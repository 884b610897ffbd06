#include "ert/base/processors.hpp"

#include "ert/base/error.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace roof {

std::vector<int> processors_of_thread()
{
    constexpr std::size_t most = 1024;  // sets of 1,024 processors, one behind the other
    for (std::size_t sets = 1; sets <= most; sets *= 2) {
        std::vector<cpu_set_t> set(sets);
        const std::size_t bytes = sets * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, set.data()) != 0) {
            if (errno == EINVAL) continue;  // the kernel's are larger
            break;
        }
        std::vector<int> processors;
        for (std::size_t one = 0; one < 8 * bytes; ++one)
            if (CPU_ISSET_S(one, bytes, set.data())) processors.push_back(static_cast<int>(one));
        return processors;
    }
    throw Error(std::string("the kernel does not say which processors this process may use: ") + std::strerror(errno));
}

int keep_thread_to(const std::vector<int>& processors)
{
    const int highest = processors.empty() ? 0 : std::ranges::max(processors);
    std::vector<cpu_set_t> set(static_cast<std::size_t>(highest) / CPU_SETSIZE + 1);
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    for (const int one : processors) CPU_SET_S(static_cast<std::size_t>(one), bytes, set.data());
    return sched_setaffinity(0, bytes, set.data()) == 0 ? 0 : errno;
}

void require_team(int given, int asked)
{
    if (given != asked)
        throw Error("OpenMP gave " + std::to_string(given) + " threads where " + std::to_string(asked) +
                    " were asked for: part of the work would not be done; see OMP_THREAD_LIMIT and OMP_DYNAMIC");
}

}  // namespace roof
