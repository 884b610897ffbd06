// Nsight Compute's CSV in two forms: a line for each metric (details, and metrics selected by name), or a line for each
// launch with a column for each metric and a second line of units (raw). The program's output precedes the header.
#include "analysis/recordings/counted_work.hpp"
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/import_units.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace roof::analysis {

namespace {

constexpr std::string_view time_metric = "gpu__time_duration.sum";

bool is_header(std::string_view line)
{
    return line.starts_with("\"ID\",") && line.find("\"Kernel Name\"") != line.npos;
}

struct Columns {
    std::map<std::string, std::size_t, std::less<>> of;

    std::string_view cell(const CsvLines& lines, std::string_view column) const
    {
        const auto place = of.find(column);
        return place == of.end() || place->second >= lines.cells().size() ? std::string_view{}
                                                                          : lines.cells()[place->second];
    }
};

struct Launch {
    std::string name, device, grid, block, capability;
    Number stream;
    Metrics metrics;
};

/// "(128, 1, 1)" -> "128x1x1".
std::string extent(std::string_view text)
{
    std::string plain;
    for (const char letter : text) {
        if (letter == ',') plain += 'x';
        if (letter >= '0' && letter <= '9') plain += letter;
    }
    return plain;
}

Number whole_number_in(std::string_view text)
{
    const auto value = number_of(text);
    if (!value || *value < 0 || *value != std::floor(*value) || *value > 1e15) return {};
    return static_cast<std::uint64_t>(*value);
}

/// Reads the launches of a file by their ID.
class ComputeReader {
  public:
    ComputeReader(const std::string& text, const std::string& name)
    {
        const std::size_t header = find_line(text, is_header);
        const std::string_view before = std::string_view(text).substr(0, header);
        const auto skipped = static_cast<std::size_t>(std::ranges::count(before, '\n'));
        // Empty lines replace the program's output, so line numbers stay correct.
        std::istringstream csv(std::string(skipped, '\n') + text.substr(header));
        CsvLines lines(csv, name);
        for (std::size_t i = 0; i <= skipped; ++i)
            if (!lines.next()) throw InputError(lines.where() + ": the header is cut off");
        for (std::size_t i = 0; i < lines.cells().size(); ++i) columns_.of.emplace(lines.cells()[i], i);
        raw_ = !columns_.of.contains("Metric Name");
        if (!raw_ && !columns_.of.contains("Metric Value"))
            throw InputError(lines.where() + ": there is no column 'Metric Value'");
        style_ = style_of(text.substr(header), name);
        error = error_of_nsight_compute(text);
        read_lines(lines);
        if (lines.cut_off()) throw InputError(lines.where() + ": the line after this one is cut off");
        if (launches.empty()) throw InputError(name + ": it holds no launch of a kernel");
    }

    std::map<std::uint64_t, Launch> launches;
    std::set<std::string> unknown_units;
    std::size_t unavailable = 0;
    std::string error;  ///< what Nsight Compute reported as one; empty if nothing

    bool raw() const { return raw_; }

  private:
    /// Of the metrics' values. Other cells, as the compute capability, have a point in every locale.
    NumberStyle style_of(const std::string& text, const std::string& name) const
    {
        std::istringstream csv(text);
        CsvLines lines(csv, name);
        std::set<NumberStyle> shown;
        const auto add = [&](std::string_view cell) {
            if (const auto style = style_shown_by(cell); style && number_of(cell, *style)) shown.insert(*style);
        };
        while (lines.next()) {
            if (!raw_) add(columns_.cell(lines, "Metric Value"));
            for (const auto& [column, place] : columns_.of)
                if (raw_ && column.find("__") != column.npos) add(columns_.cell(lines, column));
        }
        if (shown.size() > 1)
            throw InputError(name +
                             ": some of its numbers have decimal points and others decimal commas; export it "
                             "again with LC_ALL=C");
        return shown.empty() ? NumberStyle::point : *shown.begin();
    }

    void read_lines(CsvLines& lines)
    {
        const std::size_t width = lines.cells().size();
        std::vector<std::string> units;
        std::vector<std::string> names(lines.cells().begin(), lines.cells().end());
        while (lines.next()) {
            if (lines.cells().front().starts_with("==")) continue;
            if (lines.cells().size() != width && (raw_ || lines.cells().size() != width_without_rule()))
                throw InputError(fmt::format("{}: {} cells, not {}", lines.where(), lines.cells().size(), width));
            if (raw_ && units.empty()) {
                units.assign(lines.cells().begin(), lines.cells().end());
                if (!columns_.cell(lines, "ID").empty())
                    throw InputError(lines.where() + ": the line of units is missing");
                continue;
            }
            Launch& launch = launch_of(lines);
            if (!raw_)
                add(launch, columns_.cell(lines, "Metric Name"), columns_.cell(lines, "Metric Unit"),
                    columns_.cell(lines, "Metric Value"), lines.where());
            for (std::size_t i = 0; raw_ && i < width; ++i)
                if (names[i].find("__") != std::string::npos)
                    add(launch, names[i], units[i], lines.cells()[i], lines.where());
        }
    }

    /// A line of a metric in a file with rules ends with an empty "Rule Name".
    std::size_t width_without_rule() const
    {
        const auto rule = columns_.of.find("Rule Name");
        return rule == columns_.of.end() ? columns_.of.size() : rule->second + 1;
    }

    Launch& launch_of(const CsvLines& lines)
    {
        const Number id = whole_number_in(columns_.cell(lines, "ID"));
        if (!id) throw InputError(lines.where() + ": its ID is not the number of a launch");
        Launch& launch = launches[*id];
        const std::string kernel(columns_.cell(lines, "Kernel Name"));
        if (kernel.empty()) throw InputError(lines.where() + ": the kernel's name is missing");
        if (!launch.name.empty() && launch.name != kernel)
            throw InputError(lines.where() + ": its ID is that of another kernel");
        if (!launch.name.empty()) return launch;
        launch.name = kernel;
        const std::string_view device = columns_.cell(lines, "Device");
        launch.device = "gpu:" + (device.empty() ? "0" : std::string(device));
        launch.grid = extent(columns_.cell(lines, "Grid Size"));
        launch.block = extent(columns_.cell(lines, "Block Size"));
        launch.capability = columns_.cell(lines, "CC");
        launch.stream = whole_number_in(columns_.cell(lines, "Stream"));
        return launch;
    }

    void add(Launch& launch, std::string_view metric, std::string_view unit_text, std::string_view text,
             const std::string& where)
    {
        if (metric.empty()) return;
        const std::string name = metric == "Duration" ? std::string(time_metric) : std::string(metric);
        const auto value = number_of(text, style_);
        if (!value) {
            const bool number_like =
                !text.empty() && (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'));
            if (number_like && name.ends_with(".sum"))
                throw InputError(
                    fmt::format("{}: {}: '{}' is not a number", where, printable(metric), printable(text)));
            ++unavailable;
            return;
        }
        const auto unit = unit_of(unit_text);
        if (!unit) {
            unknown_units.insert(printable(unit_text));
            return;
        }
        const bool counts =
            unit->factor == 1 && (unit->name == "byte" || unit->name == "inst" || unit->name == "sector");
        if (counts && name.ends_with(".sum") && *value != std::floor(*value))
            throw InputError(
                fmt::format("{}: {}: '{}' is not a whole number of {}: its thousands may be separated by points; "
                            "export it again with LC_ALL=C",
                            where, printable(metric), printable(text), unit->name));
        const Metric read{*value * unit->factor, unit->name};
        const auto [place, is_new] = launch.metrics.emplace(name, read);
        if (!is_new && place->second.value != read.value && std::string_view(name).find("__") != std::string::npos)
            throw InputError(fmt::format("{}: {} occurs twice with different values", where, printable(name)));
    }

    Columns columns_;
    NumberStyle style_ = NumberStyle::point;
    bool raw_ = false;
};

/// What a name's prefix and ending make of a sum: a rate over time or over cycles.
struct Rate {
    std::string_view prefix, ending;
    bool over_cycles;
    double factor;
};

/// The sets "full" and "roofline" have rates in place of sums. "derived__smsp__…_x2" counts multiply-adds twice;
/// "derived__sm__…_x2" is the peak.
constexpr std::array rates{Rate{"", ".sum.per_second", false, 1}, Rate{"", ".sum.per_cycle_elapsed", true, 1},
                           Rate{"derived__", "_x2", true, 0.5}};

/// Adds the sums that follow from rates, where they are missing.
void add_sums(Metrics& metrics)
{
    const auto value = [&](std::string_view name, std::string_view unit) {
        const auto found = metrics.find(std::string(name));
        return found != metrics.end() && found->second.unit == unit ? found->second.value : 0;
    };
    const double seconds = value(time_metric, "s");
    const double cycles = seconds * std::max(value("smsp__cycles_elapsed.avg.per_second", "Hz"),
                                             value("smsp__cycles_elapsed.avg.per_second", "cycle/s"));
    Metrics sums;
    for (const auto& [name, metric] : metrics) {
        for (const Rate& rate : rates) {
            if (!name.starts_with(rate.prefix) || !name.ends_with(rate.ending)) continue;
            if (name.starts_with("derived__sm__")) continue;
            const double length = rate.over_cycles ? cycles : seconds;
            if (length <= 0) continue;
            const std::string stem =
                name.substr(rate.prefix.size(), name.size() - rate.prefix.size() - rate.ending.size());
            sums[stem + ".sum"] = {metric.value * rate.factor * length, metric.unit.substr(0, metric.unit.find('/'))};
        }
    }
    metrics.insert(sums.begin(), sums.end());  // keeps what was counted
}

void record(ImportedRow& row, std::uint64_t id, const Launch& launch)
{
    const Cause cause{launch.device, launch.stream, {}, {}, {}};
    if (const auto time = launch.metrics.find(time_metric); time != launch.metrics.end() && time->second.unit == "s")
        row.kernels.push_back(
            {cause, launch.name, {}, Seconds{time->second.value}, launch.grid, launch.block, {}, {}, {}});
    for (const auto& [name, metric] : launch.metrics)
        row.counters.push_back(
            {launch.device, CounterScope::kernel, {}, {}, launch.name, id, name, metric.value, metric.unit});
}

void add_once(std::vector<std::string>& sentences, const std::vector<std::string>& more)
{
    for (const std::string& sentence : more)
        if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
}

/// Time and counted work of all launches of the device. Amounts that any launch lacks are left out.
void add_up(Measurement& row, const std::vector<const Launch*>& launches, Imported& imported)
{
    double seconds = 0;
    bool timed = true, counted = true, moved = true, moves_some = false;
    CountedWork sum;
    for (const Launch* launch : launches) {
        const auto time = launch->metrics.find(time_metric);
        timed = timed && time != launch->metrics.end();
        if (timed) seconds += time->second.value;
        const CountedWork work = count_work(launch->metrics);
        add_once(imported.missing, work.missing);
        counted = counted && !work.flops.empty();
        moved = moved && work.bytes.contains("DRAM");
        moves_some = moves_some || work.bytes.contains("DRAM");
        for (const auto& [precision, count] : work.flops) sum.flops[precision] += count;
        if (moved) sum.bytes["DRAM"] += work.bytes.at("DRAM");
    }
    if (!counted) sum.flops.clear();
    if (!moved) sum.bytes.clear();
    set_work(row, sum);
    remark_on_precisions(sum, imported);
    if (timed) row.seconds = Estimate<Seconds>::of(std::vector<double>{seconds});
    if (!timed) add_once(imported.missing, {"time: gpu__time_duration.sum is missing for some launches"});
    if (!moved && moves_some) add_once(imported.missing, {"bytes at DRAM: missing for some launches"});
}

}  // namespace

std::string error_of_nsight_compute(std::string_view text)
{
    constexpr std::string_view mark = "==ERROR== ";
    const std::size_t at = find_line(text, [&](std::string_view line) { return line.starts_with(mark); });
    if (at == text.npos) return {};
    return printable(text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
}

bool is_nsight_compute(std::string_view text)
{
    return find_line(text, is_header) != std::string_view::npos;
}

Imported read_nsight_compute(const std::string& text, const std::string& name, const std::string& row_name)
{
    ComputeReader reader(text, name);
    for (auto& [id, launch] : reader.launches) add_sums(launch.metrics);
    Imported imported{reader.raw() ? "Nsight Compute, raw page" : "Nsight Compute, details page", {}, {}, {}, {}};
    std::map<std::string, std::vector<const Launch*>> devices;
    std::map<std::string, ImportedRow> rows;
    for (const auto& [id, launch] : reader.launches) {
        devices[launch.device].push_back(&launch);
        record(rows.try_emplace(launch.device, imported_row(row_name, launch.device)).first->second, id, launch);
    }
    for (auto& [device, row] : rows) {
        add_up(row.measurement, devices[device], imported);
        imported.devices.push_back({device, "gpu", "", {}, {}, {}, {}});
        if (const std::string& capability = devices[device].front()->capability; !capability.empty())
            imported.devices.back().facts["compute capability"] = capability;
        imported.rows.push_back(std::move(row));
    }
    imported.remarks.push_back(
        "Times are those of Nsight Compute, which runs kernels one by one, by default with cold caches and locked "
        "clocks. They "
        "differ from the times of the run.");
    if (!reader.error.empty()) imported.remarks.push_back("Nsight Compute reported: " + reader.error);
    for (const std::string& unit : reader.unknown_units)
        imported.remarks.push_back("Metrics in the unit '" + unit + "' were left out: the unit is unknown.");
    if (reader.unavailable > 0)
        imported.remarks.push_back(std::to_string(reader.unavailable) +
                                   " values were not numbers (n/a, text) and were left out.");
    return imported;
}

}  // namespace roof::analysis
