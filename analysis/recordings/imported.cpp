#include "analysis/recordings/import.hpp"

#include "ert/base/names.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

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

/// Marks ranges such as "forward", "backward" and "optimizer…" as phases, and "step" or "ProfilerStep#7" as steps.
/// Kernels, copies and calls get the phase during which the host called them.
void attribute_phases(ImportedRow& row)
{
    const std::vector<PhaseRange> phases = mark(row.ranges);
    if (phases.empty()) return;
    std::unordered_map<std::uint64_t, std::string_view> caused;
    for (ApiRecord& call : row.calls) {
        if (!call.start) continue;
        const std::string_view phase = call.phase.empty() ? phase_at(*call.start, phases) : call.phase;
        call.phase = phase;
        if (call.correlation && !phase.empty()) caused[*call.correlation] = phase;
    }
    const auto attribute = [&](Cause& cause) {
        const auto found = cause.correlation ? caused.find(*cause.correlation) : caused.end();
        if (found != caused.end() && cause.phase.empty()) cause.phase = found->second;
    };
    for (KernelRecord& kernel : row.kernels) attribute(kernel.cause);
    for (CopyRecord& copy : row.copies) attribute(copy.cause);
}

/// Seconds of each step. A profiler's last step may be cut off: a step in which the host made less than half of the
/// most calls does not count, and is from here on a range of no kind, which no table of steps has.
std::vector<double> lengths_of_steps(ImportedRow& row)
{
    std::vector<std::pair<RangeRecord*, std::ptrdiff_t>> steps;  // with its calls
    std::ptrdiff_t most = 0;
    for (RangeRecord& range : row.ranges) {
        const auto is_within = [&](const ApiRecord& call) {
            return call.start && range.start && *call.start >= *range.start &&
                   *call.start < *range.start + range.duration;
        };
        if (range.kind != RangeKind::step) continue;
        steps.emplace_back(&range, std::ranges::count_if(row.calls, is_within));
        most = std::max(most, steps.back().second);
    }
    std::vector<double> lengths;
    for (const auto& [range, calls] : steps) {
        if (2 * calls >= most)
            lengths.push_back(range->duration.value);
        else
            range->kind = RangeKind::nvtx;
    }
    return lengths;
}

/// The records of one device, with the calls that did not start something on another. `started`: devices by correlation.
ImportedRow of_device(const ImportedRow& all, const std::string& device,
                      const std::unordered_map<std::uint64_t, std::set<std::string>>& started)
{
    ImportedRow row = all;
    row.measurement.device = device;
    const auto keep = [&](auto& records) {
        std::erase_if(records, [&](const auto& record) { return record.cause.device != device; });
    };
    keep(row.kernels);
    keep(row.copies);
    keep(row.memory);
    keep(row.waits);
    std::erase_if(row.counters, [&](const CounterRecord& counter) { return counter.device != device; });
    std::erase_if(row.calls, [&](const ApiRecord& call) {
        const auto found = call.correlation ? started.find(*call.correlation) : started.end();
        return found != started.end() && !found->second.contains(device);
    });
    return row;
}

}  // namespace

void add_timeline(ImportedRow row, const std::map<std::string, std::string>& models, Imported& imported)
{
    std::set<std::string> devices;
    std::unordered_map<std::uint64_t, std::set<std::string>> started;
    const auto note = [&](const Cause& cause) {
        devices.insert(cause.device);
        if (cause.correlation) started[*cause.correlation].insert(cause.device);
    };
    for (const KernelRecord& kernel : row.kernels) note(kernel.cause);
    for (const CopyRecord& copy : row.copies) note(copy.cause);
    for (const CounterRecord& counter : row.counters) devices.insert(counter.device);
    for (const std::string& device : devices) {
        const auto model = models.find(device);
        imported.devices.push_back({device, "gpu", model == models.end() ? "" : model->second, {}, {}, {}, {}});
    }
    if (!devices.empty()) row.measurement.device = *devices.begin();
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
    std::vector<double> steps = lengths_of_steps(row);
    if (steps.empty() && extent.begin) steps.push_back(*extent.end - *extent.begin);
    if (!steps.empty()) row.measurement.seconds = Estimate<Seconds>::of(steps);
    row.measurement.work.known = Known::counter;
    imported.missing.push_back("FLOPs and bytes: this is a recording of times; Nsight Compute counts them");
    if (devices.size() < 2) {
        imported.rows.push_back(std::move(row));
        return;
    }
    for (const std::string& device : devices) imported.rows.push_back(of_device(row, device, started));
}

void add_counted_flops(Imported& imported)
{
    for (ImportedRow& row : imported.rows) {
        if (row.counters.empty()) continue;
        Metrics sums;
        for (const CounterRecord& counter : row.counters) sums[counter.metric].value += counter.value;
        const CountedWork work = count_work(sums);
        const bool has_steps = std::ranges::any_of(row.ranges, [](const auto& r) { return r.kind == RangeKind::step; });
        if (has_steps)
            imported.remarks.push_back(fmt::format("{} FLOPs were counted on {} in the whole recording, not by steps",
                                                   work.total().value, row.measurement.device));
        else
            set_work(row.measurement, work);
        for (const std::string& missing : work.missing)
            if (missing.starts_with("FLOPs")) imported.missing.push_back(missing);
        std::erase_if(imported.missing, [](const std::string& one) { return one.starts_with("FLOPs and bytes"); });
        imported.missing.emplace_back("bytes: CUPTI counted none");
    }
}

ImportedRow imported_row(const std::string& name, const std::string& device)
{
    ImportedRow row;
    row.measurement.bench = "import";
    row.measurement.device = device;
    row.measurement.point.set("model", name);
    return row;
}

void set_work(Measurement& row, const CountedWork& work)
{
    if (!work.precision().empty()) row.point.set("precision", work.precision());
    row.work.flops = work.total();
    row.work.known = Known::counter;
    if (const auto memory = work.bytes.find("DRAM"); memory != work.bytes.end())
        row.work.compulsory = row.work.no_reuse = memory->second;
}

void remark_on_precisions(const CountedWork& work, Imported& imported)
{
    const std::string most = work.precision();
    if (most.empty()) return;
    std::string others;
    for (const auto& [precision, count] : work.flops)
        if (precision != most && count.value > 0)
            others +=
                fmt::format(", {} in {}", format_si(count.value, "FLOP"), precision.empty() ? "either" : precision);
    if (!others.empty())
        imported.remarks.push_back(
            fmt::format("FLOPs of several precisions: {} in {}{}. The row counts them together, as {}.",
                        format_si(work.flops.at(most).value, "FLOP"), most, others, most));
}

ImportedRow processor_row(const std::string& name, Seconds seconds, const CountedWork& work, Imported& imported)
{
    ImportedRow row = imported_row(name, "cpu");
    set_work(row.measurement, work);
    remark_on_precisions(work, imported);
    if (!work.bytes.contains("DRAM")) imported.missing.push_back("bytes at DRAM: there is no metric");
    if (seconds.value > 0) row.measurement.seconds = Estimate<Seconds>::of(std::vector<double>{seconds.value});
    imported.missing.insert(imported.missing.end(), work.missing.begin(), work.missing.end());
    return row;
}

std::optional<Bytes> bytes_of(Number count)
{
    return count ? std::optional(Bytes{static_cast<double>(*count)}) : std::nullopt;
}

std::optional<MemoryKind> memory_in(std::string_view text)
{
    constexpr std::array<Named<MemoryKind>, 4> kinds{{{MemoryKind::pageable, "Pageable"},
                                                      {MemoryKind::pinned, "Pinned"},
                                                      {MemoryKind::device, "Device"},
                                                      {MemoryKind::managed, "Managed"}}};
    return value_found_in(kinds, text);
}

CounterRecord step_counter(const std::string& metric, const Metric& value)
{
    return {"cpu", CounterScope::step, {}, {}, {}, {}, metric, value.value, value.unit};
}

}  // namespace roof::analysis
