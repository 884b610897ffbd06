// Training on several ranks: throughput beside one rank, and the cost of communication.
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {
namespace {

/// The axes of ranks; `threads` counts the threads of all ranks.
constexpr std::array exchange_axes{"ranks", "scaling", "communication", "bucket_mb", "batch_norm", "round", "threads"};

Point without_exchange(Point point)
{
    for (const char* axis : exchange_axes) point = point.without(axis);
    return point;
}

/// Whether `one` is a single rank like each rank of `row`: on one of its devices, with its part of a node's threads.
bool is_one_rank_of(const Measurement& one, const Measurement& row, int nodes)
{
    return one.status == Status::ok && one.ranks() == 1 && one.bench == row.bench &&
           one.device == row.device.substr(0, row.device.find(',')) &&
           threads_of(one) == threads_of(row) / std::max(1, row.ranks() / nodes) &&
           without_exchange(one.point) == without_exchange(row.point);
}

const Measurement* one_rank_of(const Measurement& row, const Study& study, int nodes)
{
    const auto& rows = study.results.rows;
    const auto found = std::ranges::find_if(rows, [&](const Measurement& other) {
        return is_one_rank_of(other, row, nodes) && other.images_per_second().median > 0;
    });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

Scaling scaling_of(const Measurement& row, const Study& study)
{
    if (row.status != Status::ok || row.ranks() < 2 || took_turns(row)) return {.row = &row};
    const int nodes = static_cast<int>(std::max<std::size_t>(1, count_nodes(study.results.machine)));
    Scaling scaling{.row = &row, .link = link_between_nodes(study.over_nodes, row.ranks())};
    if (scaling.link == nullptr && row.device != "cpu") scaling.link = link_between_gpus(study.ceilings);
    scaling.alone = one_rank_of(row, study, nodes);
    const Machine& machine = study.results.machine;
    if (study.together != nullptr)
        for (const auto& other : *study.together)
            if (const Machine& of_other = other.results.machine;
                scaling.alone == nullptr && of_other.name == machine.name && of_other.node == machine.node)
                scaling.alone = one_rank_of(row, other, nodes);
    if (scaling.alone == nullptr) return scaling;
    scaling.speedup = row.images_per_second().median / scaling.alone->images_per_second().median;
    scaling.efficiency = scaling.speedup / row.ranks();
    return scaling;
}

Cell speedup_cell(const Scaling& scaling)
{
    const auto hundredths = static_cast<double>(std::lround(100 * scaling.speedup));
    return only_if(scaling.alone != nullptr, number(scaling.speedup, format_exact(hundredths / 100)));
}

Cell efficiency_cell(const Scaling& scaling)
{
    return only_if(scaling.alone != nullptr, share(scaling.efficiency));
}

ByteRate bus_bandwidth(const Measurement& row)
{
    const Seconds time = row.exposed.median + row.hidden.median;
    return time.value > 0 ? link_bytes(row) / time : ByteRate{};
}

std::vector<Scaling> scalings(const Study& study)
{
    std::vector<Scaling> found;
    for (const Measurement* row : measured_steps(study.results.rows))
        if (row->ranks() > 1) found.push_back(scaling_of(*row, study));
    return found;
}

DataTable scaling_table(const Study& study)
{
    using S = const Scaling&;
    static const std::vector<ColumnOf<Scaling>> columns{
        {"images/s", "images_per_s", [](S s) { return plain(s.row->images_per_second().median); }},
        {"speedup", "speedup", speedup_cell},
        {"efficiency", "efficiency", efficiency_cell},
        {"exposed", "exposed_s", [](S s) { return seconds(s.row->exposed.median); }},
        {"hidden", "hidden_s", [](S s) { return seconds(s.row->hidden.median); }},
        {"", "messages_bytes", [](S s) { return number(s.row->messages.value); }},
        {"bus bandwidth", "bus_byte_per_s", [](S s) { return amount(bus_bandwidth(*s.row).value, "B/s"); }},
        {"link ceiling", "link_byte_per_s",
         [](S s) { return s.link == nullptr ? absent() : amount(s.link->rate.median.value, "B/s"); }},
        {"", "known", [](S s) { return word(name(s.row->time_known)); }},
    };
    const std::string items = batch_items(study.results.rows) + "/s";
    DataTable table = table_of_steps(
        [](S s) -> auto& { return *s.row; }, columns, scalings(study),
        {.title = fmt::format("Several ranks beside one with a rank's part of the threads or one of the devices ({}; "
                              "bus bandwidth: bytes over that time, with the ring's count of crossings)",
                              time_known(study.results.rows)),
         .expendable = {"link ceiling", "hidden", "scaling", "bus bandwidth", items}});
    table.columns[table.column("images/s")].title = items;
    return table;
}

}  // namespace roof::analysis
