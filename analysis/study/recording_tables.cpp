
#include "analysis/study/recorded_rows.hpp"
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
    using Row = const Of<DeviceTimeBreakdown>&;
    static const std::vector<ColumnOf<Of<DeviceTimeBreakdown>>> columns{
        {"", "row", [](Row b) { return word(b.record.row); }},
        {"step", "",
         [](Row b) {
             return warning_if(b.record.mean.unclassified / b.record.mean.wall > most_unclassified, step_cell(b.row));
         }},
        {"device", "device", [](Row b) { return device_cell(b.record.device, b.row); }},
        {"steps", "steps", [](Row b) { return count(b.record.steps, b.record.steps == 0 ? "not marked" : ""); }},
        {"wall", "wall_s", [](Row b) { return seconds(b.record.mean.wall); }},
        {"kernels", "kernels_s", [](Row b) { return part_cell(b.record.mean.kernels, b.record.mean.wall); }},
        {"unclassified", "unclassified_s",
         [](Row b) { return part_cell(b.record.mean.unclassified, b.record.mean.wall); }},
        {"collectives", "collectives_s",
         [](Row b) { return part_cell(b.record.mean.collectives, b.record.mean.wall); }},
        {"copies", "copies_s", [](Row b) { return part_cell(b.record.mean.copies, b.record.mean.wall); }},
        {"idle", "idle_s", [](Row b) { return part_cell(b.record.mean.idle, b.record.mean.wall); }},
        {"hidden collectives", "hidden_collectives_s", [](Row b) { return seconds(b.record.mean.hidden_collectives); }},
        {"hidden copies", "hidden_copies_s", [](Row b) { return seconds(b.record.mean.hidden_copies); }},
        {"kernels at once", "kernels_at_once",
         [](Row b) {
             Cell cell = plain(b.record.mean.concurrency());
             if (b.record.mean.kernel_count == 0) cell.value = {};
             return cell;
         }},
        {"of the unrecorded step", "",
         [](Row b) {
             const Seconds unrecorded = b.row ? b.row->seconds.median + b.row->data.median : Seconds{};
             const bool known = b.row && b.record.steps > 0 && b.row->bench != "import" && unrecorded.value > 0;
             return only_if(known, share(b.record.mean.wall / unrecorded));
         }},
        {"unplaced", "", [](Row b) { return count(b.record.unplaced); }},
        {"", "known", [](Row) { return measured(); }},
    };
    DataTable table = recorded_table(columns, time_breakdown_of(study), study);
    table.title = "Time breakdown of each device, per step (measured)";
    table.expendable = {"unplaced",      "of the unrecorded step", "kernels at once",
                        "hidden copies", "hidden collectives",     "steps"};
    return table;
}

DataTable calls_table(const Study& study)
{
    using Row = const Of<CallTotal>&;
    static const std::vector<ColumnOf<Of<CallTotal>>> columns{
        {"", "row", [](Row c) { return word(c.record.row); }},
        {"call", "call", [](Row c) { return word(c.record.name); }},
        {"step", "", [](Row c) { return step_cell(c.row); }},
        {"purpose", "purpose", [](Row c) { return word(name(c.record.purpose)); }},
        {"calls", "calls", [](Row c) { return count(c.record.calls); }},
        {"time", "time_s", [](Row c) { return seconds(c.record.seconds); }},
        {"mean", "", [](Row c) { return seconds(c.record.seconds * (1 / static_cast<double>(c.record.calls))); }},
        {"longest", "longest_s", [](Row c) { return seconds(c.record.longest); }},
        {"", "known", [](Row) { return measured(); }},
    };
    DataTable table = recorded_table(columns, calls_of(study), study, most_calls);
    table.title = "Calls of the host (measured)";
    table.expendable = {"longest", "purpose"};
    return table;
}

DataTable copies_table(const Study& study)
{
    struct Copies {
        CopyTotal total;
        const Measurement* row;
        std::optional<ByteRate> link;  ///< the measured ceiling

        Cell bytes(Bytes bytes) const
        {
            return number(bytes.value, total.unsized == total.copies ? "?" : format_si(bytes.value, "B"));
        }
        bool is_rated() const { return total.rate().value > 0; }
    };
    using Row = const Copies&;
    static const std::vector<ColumnOf<Copies>> columns{
        {"copy", "", [](Row c) { return word(name(c.total.kind)); }},
        {"step", "", [](Row c) { return step_cell(c.row); }},
        {"", "row", [](Row c) { return word(c.total.row); }},
        {"device", "device", [](Row c) { return device_cell(c.total.device, c.row); }},
        {"", "kind", [](Row c) { return word(name(c.total.kind)); }},
        {"from", "source", [](Row c) { return memory_cell(c.total.source); }},
        {"to", "destination", [](Row c) { return memory_cell(c.total.destination); }},
        {"copies", "copies", [](Row c) { return count(c.total.copies); }},
        {"bytes", "bytes", [](Row c) { return c.bytes(c.total.bytes); }},
        {"", "copies_of_unknown_size", [](Row c) { return count(c.total.unsized); }},
        {"smallest", "", [](Row c) { return c.bytes(c.total.smallest); }},
        {"largest", "", [](Row c) { return c.bytes(c.total.largest); }},
        {"time", "time_s", [](Row c) { return seconds(c.total.seconds); }},
        {"rate", "rate_bytes_per_s",
         [](Row c) {
             Cell cell = only_if(c.is_rated(), amount(c.total.rate().value, "B/s"));
             if (c.total.sized_seconds.value > 0) cell.value = c.total.rate().value;
             return cell;
         }},
        {"link, measured", "",
         [](Row c) { return only_if(c.link.has_value(), amount(c.link.value_or(ByteRate{}).value, "B/s")); }},
        {"share of it", "",
         [](Row c) { return only_if(c.is_rated() && c.link, share(c.total.rate() / c.link.value_or(ByteRate{}))); }},
        {"", "known", [](Row) { return measured(); }},
    };
    const RowsById rows(study);
    std::vector<Copies> copies;
    for (const CopyTotal& total : copies_of(study))
        copies.push_back({total, rows.find(total.row), link_ceiling(total, study.calibration.rows)});
    DataTable table = table_of(columns, copies);
    for (std::size_t i = 0; i < copies.size(); ++i) table.rows[i].is_for_programs_only = copies[i].row == nullptr;
    table.title = "Copies, beside the measured link";
    table.expendable = {"smallest", "largest", "from", "to", "device"};
    return table;
}

DataTable memory_table(const Study& study)
{
    using Row = const Of<MemoryUse>&;
    static const std::vector<ColumnOf<Of<MemoryUse>>> columns{
        {"memory", "", [](Row m) { return memory_cell(m.record.memory); }},
        {"step", "", [](Row m) { return step_cell(m.row); }},
        {"", "row", [](Row m) { return word(m.record.row); }},
        {"device", "device", [](Row m) { return device_cell(m.record.device, m.row); }},
        {"", "memory", [](Row m) { return memory_cell(m.record.memory); }},
        {"peak", "", [](Row m) { return amount(m.record.peak.value, "B"); }},
        {"held at the end", "", [](Row m) { return amount(m.record.left.value, "B"); }},
        {"allocations", "allocations", [](Row m) { return count(m.record.allocations); }},
        {"releases", "releases", [](Row m) { return count(m.record.releases); }},
        {"unmatched", "unmatched_releases", [](Row m) { return count(m.record.unmatched); }},
        {"", "peak_bytes", [](Row m) { return number(m.record.peak.value); }},
        {"", "left_bytes", [](Row m) { return number(m.record.left.value); }},
        {"", "known", [](Row) { return measured(); }},
    };
    DataTable table = recorded_table(columns, memory_of(study), study);
    table.title = "Memory (recorded allocations)";
    table.expendable = {"unmatched", "releases", "device"};
    return table;
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

bool has_recording(const Study& study, std::string_view file)
{
    return std::filesystem::exists(study.results.folder / file);
}

}  // namespace roof::analysis
