#include "ert/gpu/near_processors.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::gpu {

std::vector<int> processors_in(std::string_view list)
{
    std::vector<int> processors;
    for (const std::string& range : split(trim(list), ',')) {
        const std::size_t dash = std::min(range.find('-'), range.size());
        const auto first = parse_number<int>(std::string_view(range).substr(0, dash));
        const auto last = dash == range.size() ? first : parse_number<int>(std::string_view(range).substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last >= CPU_SETSIZE) return {};
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

OnProcessors::OnProcessors(const std::vector<int>& processors)
{
    cpu_set_t former;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &wanted);
    if (sched_getaffinity(0, sizeof(former), &former) != 0) return;
    CPU_AND(&wanted, &wanted, &former);
    if (CPU_COUNT(&wanted) == 0 || sched_setaffinity(0, sizeof(wanted), &wanted) != 0) return;
    former_ = former;
}

OnProcessors::~OnProcessors()
{
    if (former_) sched_setaffinity(0, sizeof(*former_), &*former_);
}

}  // namespace roof::gpu
