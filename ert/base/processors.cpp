#include "ert/base/processors.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

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

std::vector<int> processors_in(std::string_view list)
{
    constexpr int most = 1 << 20;
    std::vector<int> processors;
    for (const std::string& range : split(trim(list), ',')) {
        const std::size_t dash = std::min(range.find('-'), range.size());
        const auto first = parse_number<int>(std::string_view(range).substr(0, dash));
        const auto last = dash == range.size() ? first : parse_number<int>(std::string_view(range).substr(dash + 1));
        if (!first || !last || *last < *first || *last >= most) return {};
        for (int processor = *first; processor <= *last; ++processor) processors.push_back(processor);
    }
    return processors;
}

std::vector<int> processors_near(std::string_view bus_id, const std::filesystem::path& devices)
{
    try {
        return processors_in(read_file(devices / in_lower_case(bus_id) / "local_cpulist"));
    } catch (const Error&) {
        return {};
    }
}

OnProcessors::OnProcessors(const std::vector<int>& processors) : former_(processors_of_thread())
{
    std::vector<int> wanted;
    std::ranges::copy_if(former_, std::back_inserter(wanted),
                         [&](int one) { return std::ranges::count(processors, one) > 0; });
    if (wanted.empty() || keep_thread_to(wanted) != 0) former_.clear();
}

OnProcessors::~OnProcessors()
{
    if (!former_.empty()) keep_thread_to(former_);
}

}  // namespace roof
