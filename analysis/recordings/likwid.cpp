// `likwid-perfctr`'s CSV: tables, each under a line "TABLE,[Region name,]Group 1 Metric,GROUP,rows". Reads the metrics
// by hardware thread; each region becomes a row. A metric's unit is in brackets behind its name.
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/import_units.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace roof::analysis {

namespace {

/// A metric of all hardware threads, in SI units.
struct ByThread {
    std::vector<double> values;
    std::string unit;
};

using Region = std::map<std::string, ByThread, std::less<>>;

struct Header {
    std::string region;
    bool metrics = false;  ///< true: metrics by thread; false: statistics
    std::size_t rows = 0;
};

Header read_header(const CsvLines& lines)
{
    Header header;
    std::string last;
    for (const std::string_view cell : lines.cells()) {
        if (cell.starts_with("Region ")) header.region = cell.substr(7);
        if (cell.starts_with("Group ") && cell.ends_with(" Metric")) header.metrics = true;
        if (!cell.empty()) last = cell;
    }
    const auto rows = number_of(last);
    if (!rows || *rows < 0 || *rows > 1e6) throw InputError(lines.where() + ": the number of rows is missing");
    header.rows = static_cast<std::size_t>(*rows);
    return header;
}

void add_metric(Region& region, const CsvLines& lines, std::size_t threads)
{
    const std::string name(lines.cells().front());
    const std::size_t open = name.rfind('['), close = name.rfind(']');
    if (open == name.npos || close == name.npos || close < open) return;
    const auto unit = unit_of(name.substr(open + 1, close - open - 1));
    if (!unit) return;
    if (lines.cells().size() < threads + 1)
        throw InputError(fmt::format("{}: {} values, not {}", lines.where(), lines.cells().size() - 1, threads));
    ByThread metric{{}, unit->name};
    for (std::size_t i = 1; i <= threads; ++i) {
        const auto value = number_of(lines.cells()[i]);
        const bool absent = lines.cells()[i] == "nan" || lines.cells()[i] == "-" || lines.cells()[i] == "inf";
        if (absent) return;
        if (!value)
            throw InputError(fmt::format("{}: {}: '{}' is not a number", lines.where(), printable(name),
                                         printable(lines.cells()[i])));
        metric.values.push_back(*value * unit->factor);
    }
    region[std::string(trim(name.substr(0, open)))] = std::move(metric);
}

std::map<std::string, Region> read_regions(const std::string& text, const std::string& name)
{
    std::istringstream csv(text);
    CsvLines lines(csv, name);
    std::map<std::string, Region> regions;
    while (lines.next()) {
        if (lines.cells().front() != "TABLE") continue;
        const Header header = read_header(lines);
        const auto next = [&] {
            if (!lines.next()) throw InputError(lines.where() + ": the table is cut off after this line");
        };
        next();
        std::size_t threads = lines.cells().size() - 1;
        while (threads > 0 && lines.cells()[threads].empty()) --threads;
        for (std::size_t i = 0; i < header.rows; ++i) {
            next();
            if (header.metrics) add_metric(regions[header.region], lines, threads);
        }
    }
    if (lines.cut_off()) throw InputError(lines.where() + ": the line after this one is cut off");
    return regions;
}

const ByThread* find_metric(const Region& region, std::initializer_list<std::string_view> names, std::string_view unit)
{
    for (const std::string_view name : names)
        if (const auto found = region.find(name); found != region.end() && found->second.unit == unit)
            return &found->second;
    return nullptr;
}

double sum_of(const ByThread& metric)
{
    double sum = 0;
    for (const double value : metric.values) sum += value;
    return sum;
}

/// FLOPs are rates times each thread's time in the region; volumes are read directly.
CountedWork work_of(const Region& region, const ByThread* times)
{
    CountedWork work;
    const auto count = [&](std::string_view metric, const std::string& precision) {
        const ByThread* const rate = find_metric(region, {metric}, "FLOP/s");
        if (rate == nullptr || times == nullptr || rate->values.size() != times->values.size()) return;
        double flops = 0;
        for (std::size_t i = 0; i < rate->values.size(); ++i) flops += rate->values[i] * times->values[i];
        work.flops[precision] = {flops};
    };
    count("SP", "fp32");
    count("DP", "fp64");
    if (const auto* volume = find_metric(region, {"L2 data volume", "L2D data volume"}, "byte"))
        work.bytes["L2"] = {sum_of(*volume)};
    if (const auto* volume = find_metric(region, {"L3 data volume"}, "byte")) work.bytes["L3"] = {sum_of(*volume)};
    if (const auto* volume = find_metric(region, {"Memory data volume"}, "byte"))
        work.bytes["DRAM"] = {sum_of(*volume)};
    if (work.flops.empty()) work.missing.push_back("FLOPs: measure the group FLOPS_SP, FLOPS_DP or MEM_SP");
    return work;
}

}  // namespace

bool is_likwid(std::string_view text)
{
    return find_line(text, [](std::string_view line) {
               return line.starts_with("TABLE,") && line.find("Group ") != line.npos;
           }) != std::string_view::npos;
}

Imported read_likwid(const std::string& text, const std::string& name, const std::string& row_name)
{
    Imported imported{"likwid-perfctr", {{"cpu", "cpu", "", {}, {}, {}, {}}}, {}, {}, {}};
    for (const auto& [region_name, region] : read_regions(text, name)) {
        const ByThread* const times = find_metric(region, {"Runtime (RDTSC)"}, "s");
        const Seconds seconds{times == nullptr || times->values.empty() ? 0 : std::ranges::max(times->values)};
        if (seconds.value <= 0) imported.missing.push_back("time: Runtime (RDTSC) is missing");
        ImportedRow row = processor_row(region_name.empty() ? row_name : row_name + " " + region_name, seconds,
                                        work_of(region, times), imported);
        for (const auto& [metric, by_thread] : region)
            row.counters.push_back(step_counter(metric, {sum_of(by_thread), by_thread.unit}));
        imported.rows.push_back(std::move(row));
    }
    if (imported.rows.empty()) throw InputError(name + ": it holds no table of metrics by hardware thread");
    imported.remarks.push_back("Values in counters.csv are sums over the hardware threads.");
    return imported;
}

}  // namespace roof::analysis
