#include "analysis/study/phase_counts.hpp"

#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace roof::analysis {

namespace {

struct Counted {
    Metric sum;
    std::size_t records = 0;
};

using Sums = std::map<std::string, Counted>;
using Phases = std::map<std::string, Sums>;

struct OfDevice {
    Phases whole;    ///< counted as a whole
    Phases kernels;  ///< counted one by one
};

std::size_t records_in(const Sums& sums)
{
    std::size_t most = 0;
    for (const auto& [metric, counted] : sums) most = std::max(most, counted.records);
    return most;
}

Metrics metrics_in(const Sums& sums)
{
    const std::size_t all = records_in(sums);
    Metrics metrics;
    for (const auto& [metric, counted] : sums)
        if (counted.records == all) metrics[metric] = counted.sum;
    return metrics;
}

bool has_phases(const Phases& phases)
{
    return std::ranges::any_of(phases, [](const auto& phase) { return !phase.first.empty(); });
}

std::map<std::pair<std::string, std::string>, OfDevice> read_phases(const std::filesystem::path& folder)
{
    std::map<std::pair<std::string, std::string>, OfDevice> devices;
    read_records<CounterRecord>(folder, [&](const std::string& row, const CounterRecord& counter) {
        if (counter.scope == CounterScope::step) return;
        OfDevice& device = devices[{row, counter.device}];
        Phases& phases = counter.scope == CounterScope::phase ? device.whole : device.kernels;
        Counted& counted = phases[counter.phase][counter.metric];
        counted.sum.value += counter.value;
        counted.sum.unit = counter.unit;
        ++counted.records;
    });
    return devices;
}

}  // namespace

std::vector<PhaseCount> phase_counts(const Study& study)
{
    std::vector<PhaseCount> found;
    for (const auto& [key, device] : read_phases(study.results.folder)) {
        const bool is_whole = !device.whole.empty();
        const Phases& phases = is_whole ? device.whole : device.kernels;
        if (!has_phases(phases)) continue;
        for (const auto& [phase, sums] : phases)
            found.push_back(
                {key.first, key.second, phase, is_whole ? 0 : records_in(sums), count_work(metrics_in(sums))});
    }
    return found;
}

}  // namespace roof::analysis
