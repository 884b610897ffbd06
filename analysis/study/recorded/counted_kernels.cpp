#include "analysis/study/recorded/counted_kernels.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace roof::analysis {
namespace {

using KernelKey = std::tuple<std::string, std::string, std::string>;  ///< row, device, name

struct Counted {
    Metric sum;
    std::size_t records = 0;
};
using Sums = std::map<std::string, Counted, std::less<>>;

void add(Sums& sums, const CounterRecord& counter)
{
    Counted& counted = sums[counter.metric];
    counted.sum.value += counter.value;
    counted.sum.unit = counter.unit;
    ++counted.records;
}

std::size_t records_in(const Sums& sums)
{
    std::size_t most = 0;
    for (const auto& [metric, counted] : sums) most = std::max(most, counted.records);
    return most;
}

/// The sums over `divisor`, without metrics that some records lack.
Metrics metrics_in(const Sums& sums, double divisor)
{
    const std::size_t all = records_in(sums);
    Metrics metrics;
    for (const auto& [name, counted] : sums)
        if (counted.records == all) metrics[name] = {counted.sum.value / divisor, counted.sum.unit};
    return metrics;
}

std::map<KernelKey, Sums> read_counters(const RecordedFolder& folder)
{
    std::map<KernelKey, Sums> kernels;
    read_records<CounterRecord>(folder, [&](const std::string& row, const CounterRecord& counter) {
        if (counter.scope == CounterScope::kernel) add(kernels[{row, counter.device, counter.name}], counter);
    });
    return kernels;
}

using Phases = std::map<std::string, Sums>;

struct OfDevice {
    Phases whole;    ///< counted as a whole
    Phases kernels;  ///< counted one by one
};

std::map<std::pair<std::string, std::string>, OfDevice> read_phases(const RecordedFolder& folder)
{
    std::map<std::pair<std::string, std::string>, OfDevice> devices;
    read_records<CounterRecord>(folder, [&](const std::string& row, const CounterRecord& counter) {
        if (counter.scope == CounterScope::step) return;
        OfDevice& device = devices[{row, counter.device}];
        add((counter.scope == CounterScope::phase ? device.whole : device.kernels)[counter.phase], counter);
    });
    return devices;
}

/// Sets the recorded time, or the counted time if there is none.
void time(CountedKernel& kernel, const Metrics& of_a_launch, const std::map<KernelKey, CountedKernel>& recorded)
{
    const auto record = recorded.find({kernel.row, kernel.device, kernel.name});
    if (record != recorded.end()) {
        kernel.launches = record->second.launches;
        kernel.seconds = record->second.seconds;
        kernel.category = record->second.category;
        return;
    }
    if (const auto sampled = of_a_launch.find("time by samples"); sampled != of_a_launch.end()) {
        kernel.launches = kernel.counted;
        kernel.seconds = {sampled->second.value * static_cast<double>(kernel.counted)};
        return;
    }
    const auto duration = of_a_launch.find("gpu__time_duration.sum");
    if (duration == of_a_launch.end() || duration->second.unit != "s") return;
    kernel.launches = kernel.counted;
    kernel.time_known = Known::counter;
    kernel.seconds = {duration->second.value * static_cast<double>(kernel.counted)};
}

std::map<KernelKey, CountedKernel> recorded_times(const Study& study)
{
    std::map<KernelKey, CountedKernel> kernels;
    for (const KernelTotal& total : kernels_of(study).digest.totals) {
        CountedKernel& kernel = kernels[{total.row, total.device, total.name}];
        if (kernel.category.empty()) kernel.category = total.category;
        kernel.launches += total.launches;
        kernel.seconds += Seconds{total.seconds};
    }
    return kernels;
}

/// "FLOPs of fp32 by FMA, 256 bits" with the highest value, from "fp32" on; empty without one.
std::string most_flops_in(const Metrics& launch)
{
    constexpr std::string_view begin = "FLOPs of ";
    std::string most;
    double value = 0;
    for (const auto& [name, metric] : launch)
        if (name.starts_with(begin) && metric.value > value) most = name.substr(begin.size()), value = metric.value;
    return most;
}

/// The threads of a row that names them; -1: the most that were measured.
int threads_in(const Study& study, const std::string& row)
{
    const Measurement* const found = find_in(study.results.rows, row, &Measurement::id);
    const int threads = found ? threads_of(*found) : 0;
    return threads > 0 ? threads : -1;
}

CountedWork scaled(CountedWork work, double factor)
{
    for (auto& [precision, flops] : work.flops) flops = flops * factor;
    for (auto& [level, bytes] : work.bytes) bytes = bytes * factor;
    return work;
}

void offer(CountedKernel& kernel, Seconds time, const std::string& roof)
{
    if (time <= kernel.attainable) return;
    kernel.attainable = time;
    kernel.binds = roof;
}

void place_levels(CountedKernel& kernel, const Roofs& roofs)
{
    const Flops flops = kernel.work.total();
    for (const LevelTraits& traits : level_table) {
        const std::string level(traits.name);
        const auto bytes = kernel.work.bytes.find(level);
        if (bytes == kernel.work.bytes.end() || bytes->second.value <= 0) continue;
        const Ceiling* const roof = roofs.level(level);
        const ByteRate rate{roof ? roof->rate.median.value : 0};
        const Intensity intensity = flops / bytes->second;
        kernel.levels.push_back({{rate}, level, bytes->second, bytes->second, kernel.known, intensity, intensity});
        if (rate.value > 0) offer(kernel, bytes->second / rate, level);
    }
}

/// Places the FLOPs, unless one of the kernel's precisions has no roof.
void place_flops(CountedKernel& kernel, const Roofs& roofs)
{
    Seconds time;
    for (const auto& [precision, flops] : kernel.work.flops) {
        if (flops.value <= 0) continue;
        const Ceiling* const roof = roofs.precision(precision);
        if (roof == nullptr) return;
        time += flops / FlopRate{roof->rate.median.value};
    }
    const Ceiling* const roof = roofs.precision(kernel.work.precision());
    if (roof == nullptr || time.value <= 0) return;
    kernel.compute_roof = {roof->rate.median.value};
    offer(kernel, time, kernel.work.precision());
}

}  // namespace

std::vector<CountedKernel> counted_kernels(const Study& study)
{
    const std::map<KernelKey, Sums> counters = read_counters(recorded_folder(study));
    if (counters.empty()) return {};
    const std::map<KernelKey, CountedKernel> recorded = recorded_times(study);
    std::vector<CountedKernel> kernels;
    for (const auto& [key, counted] : counters) {
        CountedKernel kernel;
        std::tie(kernel.row, kernel.device, kernel.name) = key;
        kernel.counted = records_in(counted);
        const Metrics launch = metrics_in(counted, static_cast<double>(kernel.counted));
        time(kernel, launch, recorded);
        if (kernel.seconds.value <= 0) continue;
        if (kernel.category.empty()) kernel.category = study.rules().kind_of({kernel.name, {}, {}, {}}).category;
        kernel.work = scaled(count_work(launch), static_cast<double>(kernel.launches));
        if (launch.contains("instructions under valgrind")) {
            kernel.known = Known::simulated;
            kernel.category = "function";
            kernel.most_flops = most_flops_in(launch);
        }
        const Roofs roofs =
            roofs_of(study.ceilings, kernel.device, kernel.is_function() ? threads_in(study, kernel.row) : -1);
        kernel.roof_threads = roofs.threads;
        place_levels(kernel, roofs);
        place_flops(kernel, roofs);
        kernels.push_back(std::move(kernel));
    }
    std::ranges::stable_sort(kernels, [](const CountedKernel& a, const CountedKernel& b) {
        return a.row != b.row ? a.row < b.row : a.seconds > b.seconds;
    });
    return kernels;
}

std::string explain(const CountedKernel& kernel)
{
    std::string text = fmt::format("{}: {} in {}, {} of the roof of {}", kernel.name,
                                   format_si(kernel.work.total().value, "FLOP"), format_duration(kernel.seconds.value),
                                   percent(kernel.fraction()), kernel.binds.empty() ? "nothing" : kernel.binds);
    for (const LevelPlacement& level : kernel.levels)
        text += fmt::format("; {} {}, {} FLOP/B", level.level, format_si(level.low.value, "B"),
                            plain_number(level.intensity_low.value));
    return text;
}

std::vector<PhaseCount> phase_counts(const Study& study)
{
    std::vector<PhaseCount> found;
    for (const auto& [key, device] : read_phases(recorded_folder(study))) {
        const bool is_whole = !device.whole.empty();
        const Phases& phases = is_whole ? device.whole : device.kernels;
        if (std::ranges::all_of(phases, [](const auto& phase) { return phase.first.empty(); })) continue;
        for (const auto& [phase, sums] : phases)
            found.push_back(
                {key.first, key.second, phase, is_whole ? 0 : records_in(sums), count_work(metrics_in(sums, 1))});
    }
    return found;
}

}  // namespace roof::analysis
