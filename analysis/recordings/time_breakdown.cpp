#include "analysis/recordings/time_breakdown.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace roof::analysis {
namespace {

constexpr std::size_t activities = 4;

std::size_t index_of(Activity activity)
{
    return static_cast<std::size_t>(activity);
}

/// Begin (+1) or end (-1) of an activity.
struct ActivityChange {
    double at;
    int change;
    Activity activity;
};

struct Running {
    std::array<int, activities> count{};

    int of(Activity activity) const { return count[index_of(activity)]; }
    int kernels() const { return of(Activity::kernel) + of(Activity::unclassified); }
};

void add_interval(TimeBreakdown& time_breakdown, Seconds time, const Running& running)
{
    const bool collective = running.of(Activity::collective) > 0, copy = running.of(Activity::copy) > 0;
    const bool kernel = running.kernels() > 0;
    if (kernel) time_breakdown.computing += time;
    time_breakdown.kernel_time += time * running.kernels();
    if (kernel && collective) time_breakdown.hidden_collectives += time;
    if ((kernel || collective) && copy) time_breakdown.hidden_copies += time;
    if (running.of(Activity::kernel) > 0)
        time_breakdown.kernels += time;
    else if (kernel)
        time_breakdown.unclassified += time;
    else if (collective)
        time_breakdown.collectives += time;
    else if (copy)
        time_breakdown.copies += time;
    else
        time_breakdown.idle += time;
}

TimeBreakdown time_breakdown_of(std::span<const Interval> intervals, const Window& window)
{
    TimeBreakdown time_breakdown;
    time_breakdown.wall = window.end - window.begin;
    std::vector<ActivityChange> events;
    for (const Interval& interval : intervals) {
        if (interval.end <= window.begin || interval.start >= window.end) continue;
        events.push_back({std::max(interval.start, window.begin).value, 1, interval.activity});
        events.push_back({std::min(interval.end, window.end).value, -1, interval.activity});
        if (interval.activity == Activity::kernel || interval.activity == Activity::unclassified)
            ++time_breakdown.kernel_count;
    }
    std::ranges::sort(events, {}, &ActivityChange::at);
    Running running;
    double now = window.begin.value;
    for (const ActivityChange& event : events) {
        add_interval(time_breakdown, {event.at - now}, running);
        running.count[index_of(event.activity)] += event.change;
        now = event.at;
    }
    add_interval(time_breakdown, {window.end.value - now}, running);
    return time_breakdown;
}

/// The intervals that can overlap the window. They are sorted by start; `latest` is the running maximum of their ends.
std::span<const Interval> overlapping(const Window& window, std::span<const Interval> intervals,
                                      std::span<const double> latest)
{
    const auto first = std::ranges::upper_bound(latest, window.begin.value) - latest.begin();
    const auto last = std::ranges::lower_bound(intervals, window.end, {}, &Interval::start) - intervals.begin();
    if (first >= last) return {};
    return intervals.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

/// The recorded intervals of one device in one row.
struct Timeline {
    std::vector<Interval> intervals;
    std::size_t unplaced = 0;
};

using Timelines = std::map<std::pair<std::string, std::string>, Timeline>;

void place(Timeline& timeline, const std::optional<Seconds>& start, Seconds duration, Activity activity)
{
    if (start)
        timeline.intervals.push_back({*start, *start + duration, activity});
    else
        ++timeline.unplaced;
}

/// All launches with the same row, device, layer, phase and name, to which the same rules apply.
struct Group {
    KernelTotal total;
    Activity activity = Activity::kernel;
};

/// Sums the launches as they are read. Each group is classified once.
class Launches {
  public:
    Launches(const KernelRules& rules, const LayerKinds& kinds) : rules_(rules), kinds_(kinds) {}

    Activity add(const std::string& row, const KernelRecord& kernel)
    {
        const Cause& cause = kernel.cause;
        key_.clear();
        for (const std::string* part : {&row, &cause.device, &cause.layer, &cause.phase, &kernel.name})
            key_.append(*part).push_back('\n');
        const auto [place, is_new] = places_.try_emplace(key_, groups_.size());
        if (is_new) groups_.push_back(classified(row, kernel));
        Group& group = groups_[place->second];
        ++group.total.launches;
        group.total.seconds += kernel.duration.value;
        return group.activity;
    }

    std::vector<KernelTotal> totals() const
    {
        std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, KernelTotal> totals;
        for (const auto& [total, activity] : groups_) {
            const auto key = std::tuple{total.row, total.device, total.category, total.algorithm, total.name};
            const auto [place, is_new] = totals.try_emplace(key, total);
            if (is_new) continue;
            place->second.launches += total.launches;
            place->second.seconds += total.seconds;
        }
        std::vector<KernelTotal> list;
        for (auto& [key, total] : totals) list.push_back(std::move(total));
        std::ranges::stable_sort(
            list, {}, [](const KernelTotal& t) { return std::tuple<const std::string&, double>(t.row, -t.seconds); });
        return list;
    }

  private:
    Group classified(const std::string& row, const KernelRecord& kernel) const
    {
        const Cause& cause = kernel.cause;
        const auto kind = kinds_.find(cause.layer);
        const auto [category, algorithm] =
            rules_.kind_of({kernel.name, cause.layer, kind == kinds_.end() ? "" : kind->second, cause.phase});
        Group group{{row, cause.device, category, algorithm, kernel.name}};
        if (is_collective(category))
            group.activity = Activity::collective;
        else if (category == no_category)
            group.activity = Activity::unclassified;
        return group;
    }

    const KernelRules& rules_;
    const LayerKinds& kinds_;
    std::string key_;
    std::unordered_map<std::string, std::size_t> places_;
    std::vector<Group> groups_;
};

std::map<std::string, std::vector<Window>> read_steps(const RecordedFolder& folder)
{
    std::map<std::string, std::vector<Window>> steps;
    read_records<RangeRecord>(folder, [&](const std::string& row, const RangeRecord& range) {
        if (range.kind == RangeKind::step && range.start)
            steps[row].push_back({*range.start, *range.start + range.duration});
    });
    return steps;
}

Window whole_of(const Timeline& timeline)
{
    Window whole{timeline.intervals.front().start, timeline.intervals.front().end};
    for (const Interval& interval : timeline.intervals) {
        whole.begin = std::min(whole.begin, interval.start);
        whole.end = std::max(whole.end, interval.end);
    }
    return whole;
}

TimeBreakdown mean_of(std::span<const TimeBreakdown> all)
{
    TimeBreakdown mean;
    for (const auto entry :
         {&TimeBreakdown::wall, &TimeBreakdown::kernels, &TimeBreakdown::unclassified, &TimeBreakdown::collectives,
          &TimeBreakdown::copies, &TimeBreakdown::idle, &TimeBreakdown::hidden_collectives,
          &TimeBreakdown::hidden_copies, &TimeBreakdown::computing, &TimeBreakdown::kernel_time}) {
        for (const TimeBreakdown& one : all) mean.*entry += one.*entry;
        (mean.*entry).value /= static_cast<double>(all.size());
    }
    for (const TimeBreakdown& one : all) mean.kernel_count += one.kernel_count;
    mean.kernel_count /= all.size();
    return mean;
}

/// One time breakdown for each device of each row. Without marked steps it covers the whole recording.
std::vector<DeviceTimeBreakdown> time_breakdown_of(const Timelines& timelines,
                                                   const std::map<std::string, std::vector<Window>>& steps)
{
    std::vector<DeviceTimeBreakdown> all;
    for (const auto& [key, timeline] : timelines) {
        if (timeline.intervals.empty()) continue;
        DeviceTimeBreakdown time_breakdown{key.first, key.second, {}, 0, timeline.unplaced};
        const auto marked = steps.find(key.first);
        std::vector<Window> windows{whole_of(timeline)};
        if (marked != steps.end()) windows = marked->second;
        if (marked != steps.end()) time_breakdown.steps = windows.size();
        time_breakdown.mean = mean_of(finish_breakdowns(timeline.intervals, windows));
        all.push_back(std::move(time_breakdown));
    }
    return all;
}

}  // namespace

LayerKinds layer_kinds(std::span<const Measurement> rows)
{
    LayerKinds kinds;
    for (const Measurement& row : rows)
        for (const PartMeasurement& part : row.parts) kinds.try_emplace(part.part.layer, part.part.kind);
    return kinds;
}

std::vector<TimeBreakdown> finish_breakdowns(std::vector<Interval> intervals, std::span<const Window> windows)
{
    if (std::ranges::any_of(intervals, [](const Interval& i) { return i.end < i.start; }) ||
        std::ranges::any_of(windows, [](const Window& w) { return w.end < w.begin; }))
        throw std::invalid_argument("it ends before it begins");
    std::ranges::sort(intervals, {}, &Interval::start);
    std::vector<double> latest;
    for (const Interval& interval : intervals)
        latest.push_back(latest.empty() ? interval.end.value : std::max(latest.back(), interval.end.value));
    std::vector<TimeBreakdown> all;
    for (const Window& window : windows)
        all.push_back(time_breakdown_of(overlapping(window, intervals, latest), window));
    return all;
}

RecordedKernels read_kernels(const RecordedFolder& folder, const KernelRules& rules, const LayerKinds& kinds)
{
    Timelines timelines;
    Launches launches(rules, kinds);
    KernelDigest digest;
    digest.launches = read_records<KernelRecord>(folder, [&](const std::string& row, const KernelRecord& kernel) {
        const Activity activity = launches.add(row, kernel);
        place(timelines[{row, kernel.cause.device}], kernel.start, kernel.duration, activity);
    });
    digest.totals = launches.totals();
    read_records<CopyRecord>(folder, [&](const std::string& row, const CopyRecord& copy) {
        place(timelines[{row, copy.cause.device}], copy.start, copy.duration, Activity::copy);
    });
    return {std::move(digest), time_breakdown_of(timelines, read_steps(folder))};
}

}  // namespace roof::analysis
