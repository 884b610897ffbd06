#include "analysis/study/recording_tables.hpp"

#include "analysis/study/counted_kernels.hpp"
#include "analysis/study/phase_counts.hpp"
#include "analysis/study/recording.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace roof::analysis {

namespace {

constexpr std::size_t most_calls = 12;
constexpr std::size_t most_kernels = 20;

/// "resnet50 b32" of the row with that id; null for rows that do not count.
class RowNames {
  public:
    explicit RowNames(const Study& study)
    {
        for (const Measurement& row : study.results.rows) rows_.emplace(row.id(), &row);
    }

    const Measurement* find(const std::string& id) const
    {
        const auto row = rows_.find(id);
        return row == rows_.end() ? nullptr : row->second;
    }

    static std::string name(const Measurement& row)
    {
        const long long batch = batch_of(row);
        return model_of(row) + (batch > 0 ? " b" + std::to_string(batch) : "");
    }

  private:
    std::map<std::string, const Measurement*> rows_;
};

std::string seconds_and_share(Seconds part, Seconds whole)
{
    return format_duration(part.value) + ", " + percent(whole.value > 0 ? part / whole : 0);
}

std::string word_of(const std::optional<MemoryKind>& kind)
{
    return kind ? std::string(name(*kind)) : "?";
}

struct Sum {
    double seconds = 0;
    std::size_t launches = 0;
};

/// Of one row and device: what no rule knows first, then the most seconds.
std::vector<std::pair<std::string, Sum>> sorted_categories(const std::map<std::string, Sum>& sums)
{
    std::vector<std::pair<std::string, Sum>> list(sums.begin(), sums.end());
    std::ranges::stable_sort(list, [](const auto& a, const auto& b) {
        const bool a_first = a.first == no_category, b_first = b.first == no_category;
        return a_first != b_first ? a_first : a.second.seconds > b.second.seconds;
    });
    return list;
}

/// The accounted time beside what the row measured without a recorder.
std::string beside_measured(const DeviceTimeBreakdown& time_breakdown, const Measurement& row)
{
    const Seconds measured = row.seconds.median + row.data.median;
    if (time_breakdown.steps == 0 || row.bench == "import" || measured.value <= 0) return "-";
    return percent(time_breakdown.mean.wall / measured);
}

std::string html_cell(const std::string& text, bool warned)
{
    return warned ? "<span class=\"warn\">" + escape(text) + "</span>" : escape(text);
}

bool is_number(const std::string& cell)
{
    return !cell.empty() && (cell == "-" || (cell.front() >= '0' && cell.front() <= '9'));
}

}  // namespace

RecordedTable kernel_table(const Study& study)
{
    RecordedTable table{{"category", "model", "device", "launches", "time", "share"}, {}};
    const KernelDigest& digest = kernels_of(study);
    table.note = fmt::format("{} launches, added up by name to {} kernels and by category here.", digest.launches,
                             digest.totals.size());
    const RowNames names(study);
    std::map<std::pair<std::string, std::string>, std::map<std::string, Sum>> rows;
    for (const KernelTotal& total : digest.totals) {
        Sum& sum = rows[{total.row, total.device}]
                       [total.algorithm.empty() ? total.category : total.category + ", " + total.algorithm];
        sum.seconds += total.seconds;
        sum.launches += total.launches;
    }
    for (const auto& [key, sums] : rows) {
        const Measurement* row = names.find(key.first);
        if (row == nullptr) continue;
        double all = 0;
        for (const auto& [category, sum] : sums) all += sum.seconds;
        for (const auto& [category, sum] : sorted_categories(sums)) {
            const double share = all > 0 ? sum.seconds / all : 0;
            if (category == no_category && share > most_unclassified) table.warned.insert(table.rows.size());
            table.rows.push_back({category, RowNames::name(*row), key.second.empty() ? row->device : key.second,
                                  std::to_string(sum.launches), format_duration(sum.seconds), percent(share)});
        }
    }
    return table;
}

RecordedTable counted_table(const Study& study)
{
    RecordedTable table{{"kernel", "category", "step", "device", "launches", "time", "FLOPs", "L1", "L2", "DRAM",
                         "FLOP/B", "rate", "roof", "reached"},
                        {}};
    const RowNames names(study);
    std::map<std::string, std::size_t> shown;
    for (const CountedKernel& kernel : counted_kernels(study)) {
        const Measurement* row = names.find(kernel.row);
        if (row == nullptr || shown[kernel.row]++ >= most_kernels) continue;
        const auto bytes = [&](const char* level) {
            const auto found = kernel.work.bytes.find(level);
            return found == kernel.work.bytes.end() ? std::string("-") : format_si(found->second.value, "B");
        };
        const bool counted = !kernel.work.flops.empty();
        const std::string how = kernel.time_known == Known::counter ? " (counter)" : "";
        const std::string sample = kernel.counted == kernel.launches ? "" : fmt::format(", {} counted", kernel.counted);
        table.rows.push_back(
            {kernel.name, kernel.category, RowNames::name(*row), kernel.device,
             std::to_string(kernel.launches) + sample, format_duration(kernel.seconds.value) + how,
             counted ? format_si(kernel.work.total().value, "FLOP") : "-", bytes("L1"), bytes("L2"), bytes("DRAM"),
             counted && !kernel.levels.empty() ? plain_number(kernel.levels.back().intensity_low.value) : "-",
             counted ? format_si(kernel.rate().value, "FLOP/s") : "-", kernel.binds.empty() ? "-" : kernel.binds,
             kernel.binds.empty() ? "-" : percent(kernel.fraction())});
    }
    return table;
}

RecordedTable phase_counts_table(const Study& study)
{
    RecordedTable table{
        {"phase", "step", "device", "counted", "FLOPs", "most of", "L1", "shared", "L2", "DRAM", "FLOP/B"}, {}};
    const RowNames names(study);
    for (const PhaseCount& of : phase_counts(study)) {
        const Measurement* row = names.find(of.row);
        if (row == nullptr) continue;
        const auto bytes = [&](const char* level) {
            const auto found = of.work.bytes.find(level);
            return found == of.work.bytes.end() ? std::string("-") : format_si(found->second.value, "B");
        };
        const auto moved = of.work.bytes.find("DRAM");
        const bool has_intensity = !of.work.flops.empty() && moved != of.work.bytes.end() && moved->second.value > 0;
        table.rows.push_back({of.phase.empty() ? "of no phase" : of.phase, RowNames::name(*row), of.device,
                              of.kernels == 0 ? "as a whole" : fmt::format("{} kernels, added up", of.kernels),
                              of.work.flops.empty() ? "-" : format_si(of.work.total().value, "FLOP"),
                              of.work.precision(), bytes("L1"), bytes("shared"), bytes("L2"), bytes("DRAM"),
                              has_intensity ? plain_number((of.work.total() / moved->second).value) : "-"});
    }
    return table;
}

RecordedTable step_counters_table(const Study& study)
{
    RecordedTable table{{"counted", "step", "device", "amount", "analysis"}, {}};
    const RowNames names(study);
    read_records<CounterRecord>(study.results.folder, [&](const std::string& id, const CounterRecord& counter) {
        const Measurement* row = names.find(id);
        const bool flops = counter.unit == "FLOP", bytes = counter.unit == "byte";
        if (row == nullptr || counter.scope != CounterScope::step || (!flops && !bytes)) return;
        const Work& work = row->work;
        const bool analytic = work.known == Known::analytic;
        const std::string interval =
            format_si(work.compulsory.value, "B") + " to " + format_si(work.no_reuse.value, "B");
        table.rows.push_back({counter.metric, RowNames::name(*row), counter.device,
                              format_si(counter.value, flops ? "FLOP" : "B"),
                              !analytic ? "-"
                              : flops   ? format_si(work.flops.value, "FLOP")
                                        : interval});
    });
    return table;
}

RecordedTable time_breakdown_table(const Study& study)
{
    RecordedTable table{
        {"step", "device", "steps", "wall", "kernels", "unclassified", "collectives", "copies", "idle",
         "hidden collectives", "hidden copies", "kernels at once", "of the unrecorded step", "unplaced"},
        {}};
    const RowNames names(study);
    for (const DeviceTimeBreakdown& of : time_breakdown_of(study)) {
        const Measurement* row = names.find(of.row);
        if (row == nullptr) continue;
        const TimeBreakdown& time_breakdown = of.mean;
        const auto share = [&](Seconds part) { return seconds_and_share(part, time_breakdown.wall); };
        if (time_breakdown.unclassified / time_breakdown.wall > most_unclassified)
            table.warned.insert(table.rows.size());
        table.rows.push_back(
            {RowNames::name(*row), of.device.empty() ? row->device : of.device,
             of.steps == 0 ? "not marked" : std::to_string(of.steps), format_duration(time_breakdown.wall.value),
             share(time_breakdown.kernels), share(time_breakdown.unclassified), share(time_breakdown.collectives),
             share(time_breakdown.copies), share(time_breakdown.idle),
             format_duration(time_breakdown.hidden_collectives.value),
             format_duration(time_breakdown.hidden_copies.value), plain_number(time_breakdown.concurrency()),
             beside_measured(of, *row), std::to_string(of.unplaced)});
    }
    return table;
}

RecordedTable calls_table(const Study& study)
{
    RecordedTable table{{"call", "step", "purpose", "calls", "time", "mean", "longest"}, {}};
    const RowNames names(study);
    std::map<std::string, std::size_t> shown;
    for (const CallTotal& total : calls_of(study)) {
        const Measurement* row = names.find(total.row);
        if (row == nullptr || shown[total.row]++ >= most_calls) continue;
        table.rows.push_back({total.name, RowNames::name(*row), std::string(name(total.purpose)),
                              std::to_string(total.calls), format_duration(total.seconds.value),
                              format_duration(total.seconds.value / static_cast<double>(total.calls)),
                              format_duration(total.longest.value)});
    }
    return table;
}

RecordedTable copies_table(const Study& study)
{
    RecordedTable table{{"copy", "step", "device", "from", "to", "copies", "bytes", "smallest", "largest", "time",
                         "rate", "link, measured", "share of it"},
                        {}};
    const RowNames names(study);
    for (const CopyTotal& total : copies_of(study)) {
        const Measurement* row = names.find(total.row);
        if (row == nullptr) continue;
        const auto ceiling = link_ceiling(total, study.calibration.rows);
        const auto bytes = [&](Bytes b) { return total.unsized == total.copies ? "?" : format_si(b.value, "B"); };
        const bool rated = total.rate().value > 0;
        table.rows.push_back(
            {std::string(name(total.kind)), RowNames::name(*row), total.device.empty() ? row->device : total.device,
             word_of(total.source), word_of(total.destination), std::to_string(total.copies), bytes(total.bytes),
             bytes(total.smallest), bytes(total.largest), format_duration(total.seconds.value),
             rated ? format_si(total.rate().value, "B/s") : "-", ceiling ? format_si(ceiling->value, "B/s") : "-",
             rated && ceiling ? percent(total.rate() / *ceiling) : "-"});
    }
    return table;
}

RecordedTable memory_table(const Study& study)
{
    RecordedTable table{{"memory", "step", "device", "peak", "held at the end", "allocations", "releases", "unmatched"},
                        {}};
    const RowNames names(study);
    for (const MemoryUse& use : memory_of(study)) {
        const Measurement* row = names.find(use.row);
        if (row == nullptr) continue;
        table.rows.push_back({word_of(use.memory), RowNames::name(*row), use.device.empty() ? row->device : use.device,
                              format_si(use.peak.value, "B"), format_si(use.left.value, "B"),
                              std::to_string(use.allocations), std::to_string(use.releases),
                              std::to_string(use.unmatched)});
    }
    return table;
}

std::string html_of(const RecordedTable& table)
{
    if (table.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        std::vector<Cell>& cells = rows.emplace_back();
        for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
            const std::string& text = table.rows[r][c];
            cells.push_back({html_cell(text, c == 0 && table.warned.contains(r)), c > 0 && is_number(text), 1});
        }
    }
    return (table.note.empty() ? std::string{} : paragraph(table.note)) + html_table(table.header, rows);
}

std::string recording_text(const Study& study, int width)
{
    struct Part {
        std::string_view heading;
        RecordedTable (*make)(const Study&);
        std::vector<std::string> expendable;
    };
    const std::array<Part, 8> parts{
        {{"Kernels by category (measured)", kernel_table, {"device"}},
         {"Kernels under the roofs (work counted, time measured where it says no other)",
          counted_table,
          {"L1", "L2", "device", "category", "launches", "rate"}},
         {"Counted of each phase (counter)", phase_counts_table, {"device", "shared", "L1", "most of"}},
         {"Counted in a step (counter), beside the analysis (analytic)", step_counters_table, {"device"}},
         {"Where each device's wall time went, of a step (measured)",
          time_breakdown_table,
          {"unplaced", "of the unrecorded step", "kernels at once", "hidden copies", "hidden collectives", "steps"}},
         {"Calls of the host (measured)", calls_table, {"longest", "purpose"}},
         {"Copies, beside the measured link", copies_table, {"smallest", "largest", "from", "to", "device"}},
         {"Memory (recorded allocations)", memory_table, {"unmatched", "releases", "device"}}}};
    std::string text;
    for (const Part& part : parts) {
        RecordedTable table = part.make(study);
        if (table.empty()) continue;
        for (const std::size_t row : table.warned) table.rows[row].front() += " (!)";
        for (std::vector<std::string>& row : table.rows)
            for (std::string& cell : row) cell = printable(cell);
        text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", part.heading,
                            fitted_table(table.header, table.rows, part.expendable, width));
    }
    return text;
}

bool has_recording(const Study& study, std::string_view file)
{
    return std::filesystem::exists(study.results.folder / file);
}

}  // namespace roof::analysis
