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

template <class Visit>
void for_each_list(ImportedRow& row, const Visit& visit)
{
    visit(row.kernels);
    visit(row.calls);
    visit(row.copies);
    visit(row.waits);
    visit(row.ranges);
}

}  // namespace

void complete_timeline(ImportedRow& row, Imported& imported)
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
    // An allocation may precede the first record.
    for (MemoryRecord& record : row.memory)
        if (record.start) record.start->value = std::max(0.0, record.start->value - extent.begin.value_or(0));
    std::vector<double> steps;
    for (const RangeRecord& range : row.ranges)
        if (range.kind == RangeKind::step) steps.push_back(range.duration.value);
    if (steps.empty() && extent.begin) steps.push_back(*extent.end - *extent.begin);
    if (!steps.empty()) row.measurement.seconds = Estimate<Seconds>::of(steps);
    row.measurement.work.known = Known::counter;
    imported.missing.push_back("FLOPs and bytes: this is a recording of times; Nsight Compute counts them");
}

}  // namespace roof::analysis
