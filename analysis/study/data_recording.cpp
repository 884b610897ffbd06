// What a recorder saw of a run: each device's time_breakdown, calls, copies, memory over time, and kernels as counters saw them.
#include "analysis/study/counted_kernels.hpp"
#include "analysis/study/data_tables.hpp"
#include "analysis/study/phase_counts.hpp"
#include "analysis/study/recording.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

namespace {

Value word_of(const std::optional<MemoryKind>& kind)
{
    return kind ? text(name(*kind)) : Value{};
}

Value measured()
{
    return text(name(Known::measured));
}

}  // namespace

DataTable time_breakdown_table_of(const Study& study)
{
    using Row = DeviceTimeBreakdown;
    static const std::vector<DataColumn<Row>> columns{
        {"row", [](const Row& b) { return text(b.row); }},
        {"device", [](const Row& b) { return text(b.device); }},
        {"steps", [](const Row& b) { return Value(b.steps); }},
        {"wall_s", [](const Row& b) { return number(b.mean.wall.value); }},
        {"kernels_s", [](const Row& b) { return number(b.mean.kernels.value); }},
        {"unclassified_s", [](const Row& b) { return number(b.mean.unclassified.value); }},
        {"collectives_s", [](const Row& b) { return number(b.mean.collectives.value); }},
        {"copies_s", [](const Row& b) { return number(b.mean.copies.value); }},
        {"idle_s", [](const Row& b) { return number(b.mean.idle.value); }},
        {"hidden_collectives_s", [](const Row& b) { return number(b.mean.hidden_collectives.value); }},
        {"hidden_copies_s", [](const Row& b) { return number(b.mean.hidden_copies.value); }},
        {"kernels_at_once", [](const Row& b) { return number_if(b.mean.kernel_count > 0, b.mean.concurrency()); }},
        {"known", [](const Row&) { return measured(); }},
    };
    return table_of(columns, time_breakdown_of(study));
}

DataTable calls_table_of(const Study& study)
{
    using Row = CallTotal;
    static const std::vector<DataColumn<Row>> columns{
        {"row", [](const Row& c) { return text(c.row); }},
        {"call", [](const Row& c) { return text(c.name); }},
        {"purpose", [](const Row& c) { return text(name(c.purpose)); }},
        {"calls", [](const Row& c) { return Value(c.calls); }},
        {"time_s", [](const Row& c) { return number(c.seconds.value); }},
        {"longest_s", [](const Row& c) { return number(c.longest.value); }},
        {"known", [](const Row&) { return measured(); }},
    };
    return table_of(columns, calls_of(study));
}

DataTable copies_table_of(const Study& study)
{
    using Row = CopyTotal;
    static const std::vector<DataColumn<Row>> columns{
        {"row", [](const Row& c) { return text(c.row); }},
        {"device", [](const Row& c) { return text(c.device); }},
        {"kind", [](const Row& c) { return text(name(c.kind)); }},
        {"source", [](const Row& c) { return word_of(c.source); }},
        {"destination", [](const Row& c) { return word_of(c.destination); }},
        {"copies", [](const Row& c) { return Value(c.copies); }},
        {"bytes", [](const Row& c) { return number(c.bytes.value); }},
        {"copies_of_unknown_size", [](const Row& c) { return Value(c.unsized); }},
        {"time_s", [](const Row& c) { return number(c.seconds.value); }},
        {"rate_bytes_per_s", [](const Row& c) { return number_if(c.sized_seconds.value > 0, c.rate().value); }},
        {"known", [](const Row&) { return measured(); }},
    };
    return table_of(columns, copies_of(study));
}

DataTable memory_table_of(const Study& study)
{
    using Row = MemoryUse;
    static const std::vector<DataColumn<Row>> columns{
        {"row", [](const Row& m) { return text(m.row); }},
        {"device", [](const Row& m) { return text(m.device); }},
        {"memory", [](const Row& m) { return word_of(m.memory); }},
        {"allocations", [](const Row& m) { return Value(m.allocations); }},
        {"releases", [](const Row& m) { return Value(m.releases); }},
        {"unmatched_releases", [](const Row& m) { return Value(m.unmatched); }},
        {"peak_bytes", [](const Row& m) { return number(m.peak.value); }},
        {"left_bytes", [](const Row& m) { return number(m.left.value); }},
        {"known", [](const Row&) { return measured(); }},
    };
    return table_of(columns, memory_of(study));
}

DataTable memory_over_time_table(const Study& study)
{
    DataTable table{{"row", "device", "memory", "time_s", "held_bytes", "known"}, {}};
    for (const MemoryUse& use : memory_of(study)) {
        for (const MemoryPoint& point : use.timeline)
            table.rows.push_back({text(use.row), text(use.device), word_of(use.memory), number(point.at.value),
                                  number(point.held.value), measured()});
    }
    return table;
}

DataTable counted_table_of(const Study& study)
{
    DataTable table{{"row", "device", "kernel", "category", "launches", "counted_launches", "time_s", "flops", "level",
                     "bytes", "compute_roof_flop_per_s", "binds", "attainable_s", "known", "time_known"},
                    {}};
    for (const CountedKernel& kernel : counted_kernels(study)) {
        for (const auto& [level, bytes] : kernel.work.bytes)
            table.rows.push_back({text(kernel.row), text(kernel.device), text(kernel.name), text(kernel.category),
                                  Value(kernel.launches), Value(kernel.counted), number(kernel.seconds.value),
                                  number(kernel.work.total().value), text(level), number(bytes.value),
                                  number_if(kernel.compute_roof.value > 0, kernel.compute_roof.value),
                                  text(kernel.binds), number_if(!kernel.binds.empty(), kernel.attainable.value),
                                  text(name(Known::counter)), text(name(kernel.time_known))});
    }
    return table;
}

DataTable phase_counts_table_of(const Study& study)
{
    DataTable table{{"row", "device", "phase", "kernels_added_up", "of", "amount", "unit", "known"}, {}};
    const Value known = text(name(Known::counter));
    for (const PhaseCount& of : phase_counts(study)) {
        const Value kernels = of.kernels == 0 ? Value{} : Value(of.kernels);
        for (const auto& [precision, flops] : of.work.flops)
            table.rows.push_back({text(of.row), text(of.device), text(of.phase), kernels, text(precision),
                                  number(flops.value), text("FLOP"), known});
        for (const auto& [level, bytes] : of.work.bytes)
            table.rows.push_back({text(of.row), text(of.device), text(of.phase), kernels, text(level),
                                  number(bytes.value), text("byte"), known});
    }
    return table;
}

}  // namespace roof::analysis
