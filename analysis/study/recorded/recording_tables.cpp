// What was recorded beside the kernels: the time of devices, the calls of the host, copies and memory.
#include "analysis/study/recorded/recorded_rows.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {
namespace {

constexpr std::size_t most_calls = 12;  ///< people see at most this many of a row

Cell memory_cell(const std::optional<MemoryKind>& kind)
{
    Cell cell = word(kind ? name(*kind) : "?");
    if (!kind) cell.value = {};
    return cell;
}

/// "12.3 ms, 45%", of a device's wall time.
Cell part_cell(Seconds part, Seconds whole)
{
    return number(part.value, format_duration(part.value) + ", " + percent(whole.value > 0 ? part / whole : 0));
}

}  // namespace

DataTable time_breakdown_table(const Study& study)
{
    using B = const DeviceTimeBreakdown&;
    const RowsById rows(study);
    const std::vector<ColumnOf<DeviceTimeBreakdown>> columns{
        {"", "row", [](B b) { return word(b.row); }},
        {"step", "",
         [&](B b) {
             return warning_if(b.mean.unclassified / b.mean.wall > most_unclassified, step_cell(rows.find(b.row)));
         }},
        {"device", "device", [&](B b) { return device_cell(b.device, rows.find(b.row)); }},
        {"steps", "steps", [](B b) { return count(b.steps, b.steps == 0 ? "not marked" : ""); }},
        {"wall", "wall_s", [](B b) { return seconds(b.mean.wall); }},
        {"kernels", "kernels_s", [](B b) { return part_cell(b.mean.kernels, b.mean.wall); }},
        {"unclassified", "unclassified_s", [](B b) { return part_cell(b.mean.unclassified, b.mean.wall); }},
        {"collectives", "collectives_s", [](B b) { return part_cell(b.mean.collectives, b.mean.wall); }},
        {"copies", "copies_s", [](B b) { return part_cell(b.mean.copies, b.mean.wall); }},
        {"idle", "idle_s", [](B b) { return part_cell(b.mean.idle, b.mean.wall); }},
        {"hidden collectives", "hidden_collectives_s", [](B b) { return seconds(b.mean.hidden_collectives); }},
        {"hidden copies", "hidden_copies_s", [](B b) { return seconds(b.mean.hidden_copies); }},
        {"kernels at once", "kernels_at_once",
         [](B b) {
             Cell cell = plain(b.mean.concurrency());
             if (b.mean.kernel_count == 0) cell.value = {};
             return cell;
         }},
        {"of the unrecorded step", "",
         [&](B b) {
             const Measurement* const row = rows.find(b.row);
             const Seconds unrecorded = row ? row->seconds.median + row->data.median : Seconds{};
             const bool known = row && b.steps > 0 && row->bench != "import" && unrecorded.value > 0;
             return only_if(known, share(b.mean.wall / unrecorded));
         }},
        {"unplaced", "", [](B b) { return count(b.unplaced); }},
        {"", "known", [](B) { return measured(); }},
    };
    return recorded_table(columns, kernels_of(study).time_breakdown, rows,
                          {.title = "Time breakdown of each device, per step (measured)",
                           .expendable = {"unplaced", "of the unrecorded step", "kernels at once", "hidden copies",
                                          "hidden collectives", "steps"}});
}

DataTable calls_table(const Study& study)
{
    using C = const CallTotal&;
    const RowsById rows(study);
    const std::vector<ColumnOf<CallTotal>> columns{
        {"", "row", [](C c) { return word(c.row); }},
        {"call", "call", [](C c) { return word(c.name); }},
        {"step", "", [&](C c) { return step_cell(rows.find(c.row)); }},
        {"purpose", "purpose", [](C c) { return word(name(c.purpose)); }},
        {"calls", "calls", [](C c) { return count(c.calls); }},
        {"time", "time_s", [](C c) { return seconds(c.seconds); }},
        {"mean", "", [](C c) { return seconds(c.seconds * (1 / static_cast<double>(c.calls))); }},
        {"longest", "longest_s", [](C c) { return seconds(c.longest); }},
        {"", "known", [](C) { return measured(); }},
    };
    return recorded_table(columns, calls_of(study), rows,
                          {.title = "Calls of the host (measured)", .expendable = {"longest", "purpose"}}, most_calls);
}

DataTable copies_table(const Study& study)
{
    using C = const CopyTotal&;
    const RowsById rows(study);
    const auto bytes_cell = [](C c, Bytes bytes) {
        return number(bytes.value, c.unsized == c.copies ? "?" : format_si(bytes.value, "B"));
    };
    const auto link = [&](C c) { return link_ceiling(c, calibration_rows(study)); };
    const std::vector<ColumnOf<CopyTotal>> columns{
        {"copy", "", [](C c) { return word(name(c.kind)); }},
        {"step", "", [&](C c) { return step_cell(rows.find(c.row)); }},
        {"", "row", [](C c) { return word(c.row); }},
        {"device", "device", [&](C c) { return device_cell(c.device, rows.find(c.row)); }},
        {"", "kind", [](C c) { return word(name(c.kind)); }},
        {"from", "source", [](C c) { return memory_cell(c.source); }},
        {"to", "destination", [](C c) { return memory_cell(c.destination); }},
        {"copies", "copies", [](C c) { return count(c.copies); }},
        {"bytes", "bytes", [&](C c) { return bytes_cell(c, c.bytes); }},
        {"", "copies_of_unknown_size", [](C c) { return count(c.unsized); }},
        {"smallest", "", [&](C c) { return bytes_cell(c, c.smallest); }},
        {"largest", "", [&](C c) { return bytes_cell(c, c.largest); }},
        {"time", "time_s", [](C c) { return seconds(c.seconds); }},
        {"rate", "rate_bytes_per_s",
         [](C c) {
             Cell cell = only_if(c.rate().value > 0, amount(c.rate().value, "B/s"));
             if (c.sized_seconds.value > 0) cell.value = c.rate().value;
             return cell;
         }},
        {"link, measured", "",
         [&](C c) { return only_if(link(c).has_value(), amount(link(c).value_or(ByteRate{}).value, "B/s")); }},
        {"share of it", "",
         [&](C c) { return only_if(c.rate().value > 0 && link(c), share(c.rate() / link(c).value_or(ByteRate{}))); }},
        {"", "known", [](C) { return measured(); }},
    };
    return recorded_table(
        columns, copies_of(study), rows,
        {.title = "Copies, beside the measured link", .expendable = {"smallest", "largest", "from", "to", "device"}});
}

DataTable memory_table(const Study& study)
{
    using M = const MemoryUse&;
    const RowsById rows(study);
    const std::vector<ColumnOf<MemoryUse>> columns{
        {"memory", "", [](M m) { return memory_cell(m.memory); }},
        {"step", "", [&](M m) { return step_cell(rows.find(m.row)); }},
        {"", "row", [](M m) { return word(m.row); }},
        {"device", "device", [&](M m) { return device_cell(m.device, rows.find(m.row)); }},
        {"", "memory", [](M m) { return memory_cell(m.memory); }},
        {"peak", "", [](M m) { return amount(m.peak.value, "B"); }},
        {"held at the end", "", [](M m) { return amount(m.left.value, "B"); }},
        {"allocations", "allocations", [](M m) { return count(m.allocations); }},
        {"releases", "releases", [](M m) { return count(m.releases); }},
        {"unmatched", "unmatched_releases", [](M m) { return count(m.unmatched); }},
        {"", "peak_bytes", [](M m) { return number(m.peak.value); }},
        {"", "left_bytes", [](M m) { return number(m.left.value); }},
        {"", "known", [](M) { return measured(); }},
    };
    return recorded_table(
        columns, memory_of(study), rows,
        {.title = "Memory (recorded allocations)", .expendable = {"unmatched", "releases", "device"}});
}

DataTable memory_over_time_table(const Study& study)
{
    struct Moment {
        const MemoryUse& use;
        const MemoryPoint& point;
    };
    using Row = const Moment&;
    static const std::vector<ColumnOf<Moment>> columns{
        {"", "row", [](Row m) { return word(m.use.row); }},
        {"", "device", [](Row m) { return word(m.use.device); }},
        {"", "memory", [](Row m) { return memory_cell(m.use.memory); }},
        {"", "time_s", [](Row m) { return number(m.point.at.value); }},
        {"", "held_bytes", [](Row m) { return number(m.point.held.value); }},
        {"", "known", [](Row) { return measured(); }},
    };
    std::vector<Moment> moments;
    for (const MemoryUse& use : memory_of(study))
        for (const MemoryPoint& point : use.timeline) moments.push_back({use, point});
    return table_of(columns, moments);
}

std::string recording_text(const Study& study, int width)
{
    std::string text;
    for (const auto make : {kernel_categories_table, counted_kernels_table, phase_counts_table, step_counters_table,
                            time_breakdown_table, calls_table, copies_table, memory_table}) {
        DataTable table = make(study);
        if (table.empty()) continue;
        for (DataTable::Row& row : table.rows)
            for (Cell& cell : row.cells)
                if (cell.is_warning) cell.text += " (!)";
        text += (text.empty() ? "" : "\n") + to_text(table, width);
    }
    return text;
}

}  // namespace roof::analysis
