#include "ert/gpu/near_processors.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/base/processors.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace roof::gpu {

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

}  // namespace roof::gpu
