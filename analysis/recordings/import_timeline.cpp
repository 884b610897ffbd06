#include "analysis/recordings/import_timeline.hpp"

#include "analysis/recordings/import_phases.hpp"

#include <algorithm>
#include <optional>

namespace roof::analysis {

namespace {

struct Extent {
    std::optional<double> begin, end;

    void take(const std::optional<Seconds>& start, Seconds duration)
    {
        if (!start) return;
        begin = std::min(begin.value_or(start->value), start->value);
        end = std::max(end.value_or(start->value), start->value + duration.value);
    }
};

template <class Round>
void for_each_list(ImportedRow& row, const Round& round)
{
    round(row.kernels);
    round(row.calls);
    round(row.copies);
    round(row.waits);
    round(row.ranges);
}

}  // namespace

void settle_timeline(ImportedRow& row, Imported& imported)
{
    attribute_phases(row);
    Extent extent;
    for_each_list(row, [&](auto& records) {
        for (const auto& record : records) extent.take(record.start, record.duration);
    });
    for_each_list(row, [&](auto& records) {
        for (auto& record : records)
            if (record.start) record.start->value -= *extent.begin;
    });
    // Before the first record there may be allocations; their order and distance is what counts.
    for (MemoryRecord& record : row.memory)
        if (record.start) record.start->value = std::max(0.0, record.start->value - extent.begin.value_or(0));
    std::vector<double> steps;
    for (const RangeRecord& range : row.ranges)
        if (range.kind == RangeKind::step) steps.push_back(range.duration.value);
    if (steps.empty() && extent.begin) steps.push_back(*extent.end - *extent.begin);
    if (!steps.empty()) row.measurement.seconds = Estimate<Seconds>::of(steps);
    row.measurement.work.known = Known::counter;
    imported.missing.push_back("FLOPs and bytes: it is a recording of times; Nsight Compute counts them");
}

}  // namespace roof::analysis
