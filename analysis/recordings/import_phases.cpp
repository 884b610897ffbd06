#include "analysis/recordings/import_phases.hpp"

#include "ert/recording/range_names.hpp"

#include <algorithm>
#include <unordered_map>

namespace roof::analysis {

namespace {

struct PhaseRange {
    Seconds begin, end;
    std::string_view phase;
};

/// Sorted by begin, so outer ranges come before inner ones.
std::vector<PhaseRange> mark(std::vector<RangeRecord>& ranges)
{
    std::vector<PhaseRange> phases;
    for (RangeRecord& range : ranges) {
        const std::string_view phase = phase_in(range.name);
        range.kind = kind_in(range.name);
        if (!phase.empty() && range.start) phases.push_back({*range.start, *range.start + range.duration, phase});
    }
    std::ranges::stable_sort(phases, {}, &PhaseRange::begin);
    return phases;
}

/// The innermost phase at a moment; empty outside all phases.
std::string_view phase_at(Seconds moment, const std::vector<PhaseRange>& phases)
{
    constexpr int deepest = 16;
    auto after = std::ranges::upper_bound(phases, moment, {}, &PhaseRange::begin);
    for (int i = 0; i < deepest && after != phases.begin(); ++i)
        if (moment < (--after)->end) return after->phase;
    return {};
}

}  // namespace

void attribute_phases(ImportedRow& row)
{
    const std::vector<PhaseRange> phases = mark(row.ranges);
    if (phases.empty()) return;
    std::unordered_map<std::uint64_t, std::string_view> caused;
    for (ApiRecord& call : row.calls) {
        if (!call.start) continue;
        const std::string_view phase = phase_at(*call.start, phases);
        call.phase = phase;
        if (call.correlation && !phase.empty()) caused[*call.correlation] = phase;
    }
    const auto attribute = [&](Cause& cause) {
        const auto found = cause.correlation ? caused.find(*cause.correlation) : caused.end();
        if (found != caused.end()) cause.phase = found->second;
    };
    for (KernelRecord& kernel : row.kernels) attribute(kernel.cause);
    for (CopyRecord& copy : row.copies) attribute(copy.cause);
}

}  // namespace roof::analysis
