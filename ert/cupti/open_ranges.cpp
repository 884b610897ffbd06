#include "ert/cupti/open_ranges.hpp"

#include "ert/cupti/range_index.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace roof::cupti {

void OpenRanges::push(std::uint32_t thread, const void* domain, std::string name)
{
    const std::lock_guard lock(mutex_);
    threads_[thread].push_back({domain, std::move(name), ++opened_});
}

void OpenRanges::pop(std::uint32_t thread, const void* domain)
{
    const std::lock_guard lock(mutex_);
    std::vector<Open>& open = threads_[thread];
    const auto last =
        std::find_if(open.rbegin(), open.rend(), [&](const Open& range) { return range.domain == domain; });
    if (last != open.rend()) open.erase(std::next(last).base());
    if (open.empty()) threads_.erase(thread);
}

Label OpenRanges::label(std::uint32_t thread) const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string_view> innermost_first;
    if (const auto found = threads_.find(thread); found != threads_.end())
        for (auto range = found->second.rbegin(); range != found->second.rend(); ++range)
            innermost_first.push_back(range->name);
    Label label = label_in(innermost_first);
    if (label.phase.empty()) label.phase = phase_opened_last();
    return label;
}

std::string OpenRanges::phase_opened_last() const
{
    std::uint64_t last = 0;
    std::string_view phase;
    for (const auto& [thread, open] : threads_)
        for (const Open& range : open)
            if (range.order > last && !phase_in(range.name).empty()) {
                last = range.order;
                phase = phase_in(range.name);
            }
    return std::string(phase);
}

bool OpenRanges::is_within(const std::string& wanted) const
{
    const std::lock_guard lock(mutex_);
    return std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
        return std::any_of(thread.second.begin(), thread.second.end(),
                           [&](const Open& range) { return is_named(range.name, wanted); });
    });
}

}  // namespace roof::cupti
