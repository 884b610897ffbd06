#include "analysis/recordings/import_phases.hpp"

#include "ert/recording/range_names.hpp"

#include <algorithm>
#include <unordered_map>

namespace roof::analysis {

namespace {

struct Stretch {
    Seconds begin, end;
    std::string_view phase;
};

/// Outer ranges first: of nested ones, the last that holds a moment is the innermost.
std::vector<Stretch> mark(std::vector<RangeRecord>& ranges)
{
    std::vector<Stretch> stretches;
    for (RangeRecord& range : ranges) {
        const std::string_view phase = phase_in(range.name);
        range.kind = kind_in(range.name);
        if (!phase.empty() && range.start) stretches.push_back({*range.start, *range.start + range.duration, phase});
    }
    std::ranges::stable_sort(stretches, {}, &Stretch::begin);
    return stretches;
}

/// Stretches may nest, though phases hardly do: the latest to begin that is still open.
std::string_view phase_at(Seconds moment, const std::vector<Stretch>& stretches)
{
    constexpr int deepest = 16;
    auto after = std::ranges::upper_bound(stretches, moment, {}, &Stretch::begin);
    for (int i = 0; i < deepest && after != stretches.begin(); ++i)
        if (moment < (--after)->end) return after->phase;
    return {};
}

}  // namespace

void attribute_phases(ImportedRow& row)
{
    const std::vector<Stretch> stretches = mark(row.ranges);
    if (stretches.empty()) return;
    std::unordered_map<std::uint64_t, std::string_view> caused;
    for (ApiRecord& call : row.calls) {
        if (!call.start) continue;
        const std::string_view phase = phase_at(*call.start, stretches);
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
