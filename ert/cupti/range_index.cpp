#include "ert/cupti/range_index.hpp"

#include <algorithm>
#include <utility>

namespace roof::cupti {
namespace {

bool holds(const RangeActivity& range, Nanoseconds moment)
{
    return range.begin <= moment && moment <= range.end;
}

}  // namespace

bool is_named(std::string_view name, std::string_view wanted)
{
    if (wanted.ends_with('*')) return name.starts_with(wanted.substr(0, wanted.size() - 1));
    return name == wanted;
}

Label label_in(std::span<const std::string_view> innermost_first)
{
    Label label;
    for (const std::string_view name : innermost_first) {
        if (label.layer.empty() && kind_in(name) == RangeKind::nvtx) label.layer = name;
        if (label.phase.empty()) label.phase = phase_in(name);
    }
    return label;
}

RangeIndex::RangeIndex(const std::deque<RangeActivity>& ranges)
{
    for (const RangeActivity& range : ranges) {
        threads_[range.thread].push_back({&range, {}});
        if (!phase_in(*range.name).empty()) phases_.push_back({&range, {}});
    }
    for (auto& [number, thread] : threads_) nest(thread);
    nest(phases_);
}

/// Sorts by begin, the longer first, and finds the parent of each: the nearest before it that does not end sooner.
void RangeIndex::nest(Thread& thread)
{
    std::sort(thread.begin(), thread.end(), [](const Nested& a, const Nested& b) {
        return std::pair(a.range->begin, b.range->end) < std::pair(b.range->begin, a.range->end);
    });
    std::vector<std::size_t> open;
    for (std::size_t place = 0; place < thread.size(); ++place) {
        while (!open.empty() && thread[open.back()].range->end < thread[place].range->end) open.pop_back();
        if (!open.empty()) thread[place].parent = open.back();
        open.push_back(place);
    }
}

std::vector<const RangeActivity*> RangeIndex::around(const Thread& thread, Nanoseconds moment)
{
    const auto after = std::upper_bound(thread.begin(), thread.end(), moment,
                                        [](Nanoseconds at, const Nested& nested) { return at < nested.range->begin; });
    std::vector<const RangeActivity*> found;
    if (after == thread.begin()) return found;
    std::optional<std::size_t> place = static_cast<std::size_t>(after - thread.begin()) - 1;
    for (; place; place = thread[*place].parent)
        if (holds(*thread[*place].range, moment)) found.push_back(thread[*place].range);
    return found;
}

std::vector<const RangeActivity*> RangeIndex::around(std::uint32_t thread, Nanoseconds moment) const
{
    const auto found = threads_.find(thread);
    return found == threads_.end() ? std::vector<const RangeActivity*>{} : around(found->second, moment);
}

const RangeActivity* RangeIndex::phase_at(Nanoseconds moment) const
{
    const auto found = around(phases_, moment);
    return found.empty() ? nullptr : found.front();
}

}  // namespace roof::cupti
