#include "analysis/recordings/time_breakdown.hpp"

#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
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
struct Event {
    double at;
    int change;
    Activity activity;
};

/// The number of running activities at one instant.
struct Running {
    std::array<int, activities> count{};

    int of(Activity activity) const { return count[index_of(activity)]; }
    int kernels() const { return of(Activity::kernel) + of(Activity::unclassified); }
};

/// Adds an interval with a constant set of activities.
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
    std::vector<Event> events;
    for (const Interval& interval : intervals) {
        if (interval.end <= window.begin || interval.start >= window.end) continue;
        events.push_back({std::max(interval.start, window.begin).value, 1, interval.activity});
        events.push_back({std::min(interval.end, window.end).value, -1, interval.activity});
        if (interval.activity == Activity::kernel || interval.activity == Activity::unclassified)
            ++time_breakdown.kernel_count;
    }
    std::ranges::sort(events, {}, &Event::at);
    Running running;
    double now = window.begin.value;
    for (const Event& event : events) {
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

template <class Span>
void check_order(const std::vector<Span>& spans, Seconds Span::*from, Seconds Span::*to)
{
    for (const Span& span : spans)
        if (span.*to < span.*from) throw std::invalid_argument("it ends before it begins");
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

/// The activity of each kernel. Each name, layer and phase is classified once.
class Activities {
  public:
    Activities(const KernelRules& rules, const LayerKinds& kinds) : rules_(rules), kinds_(kinds) {}

    Activity of(const KernelRecord& kernel)
    {
        const std::string key = kernel.name + '\n' + kernel.cause.layer + '\n' + kernel.cause.phase;
        const auto [place, is_new] = known_.try_emplace(key, Activity::kernel);
        if (is_new) place->second = classify(kernel);
        return place->second;
    }

  private:
    Activity classify(const KernelRecord& kernel) const
    {
        const auto kind = kinds_.find(kernel.cause.layer);
        const std::string category = rules_
                                         .kind_of({kernel.name, kernel.cause.layer,
                                                   kind == kinds_.end() ? "" : kind->second, kernel.cause.phase})
                                         .category;
        if (is_collective(category)) return Activity::collective;
        return category == no_category ? Activity::unclassified : Activity::kernel;
    }

    const KernelRules& rules_;
    const LayerKinds& kinds_;
    std::unordered_map<std::string, Activity> known_;
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
    TimeBreakdown sum;
    for (const TimeBreakdown& time_breakdown : all) sum += time_breakdown;
    const auto n = static_cast<double>(all.size());
    for (Seconds* entry : {&sum.wall, &sum.kernels, &sum.unclassified, &sum.collectives, &sum.copies, &sum.idle,
                           &sum.hidden_collectives, &sum.hidden_copies, &sum.computing, &sum.kernel_time})
        entry->value /= n;
    sum.kernel_count /= all.size();
    return sum;
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

TimeBreakdown& TimeBreakdown::operator+=(const TimeBreakdown& other)
{
    for (const auto entry :
         {&TimeBreakdown::wall, &TimeBreakdown::kernels, &TimeBreakdown::unclassified, &TimeBreakdown::collectives,
          &TimeBreakdown::copies, &TimeBreakdown::idle, &TimeBreakdown::hidden_collectives,
          &TimeBreakdown::hidden_copies, &TimeBreakdown::computing, &TimeBreakdown::kernel_time})
        this->*entry += other.*entry;
    kernel_count += other.kernel_count;
    return *this;
}

std::vector<TimeBreakdown> finish_breakdowns(std::vector<Interval> intervals, std::span<const Window> windows)
{
    check_order(intervals, &Interval::start, &Interval::end);
    check_order(std::vector<Window>(windows.begin(), windows.end()), &Window::begin, &Window::end);
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
    Activities activities(rules, kinds);
    KernelDigest digest = digest_kernels(folder, rules, kinds, [&](const std::string& row, const KernelRecord& kernel) {
        place(timelines[{row, kernel.cause.device}], kernel.start, kernel.duration, activities.of(kernel));
    });
    read_records<CopyRecord>(folder, [&](const std::string& row, const CopyRecord& copy) {
        place(timelines[{row, copy.cause.device}], copy.start, copy.duration, Activity::copy);
    });
    return {std::move(digest), time_breakdown_of(timelines, read_steps(folder))};
}

}  // namespace roof::analysis
