#include "analysis/study/tables.hpp"

#include "analysis/study/compare.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace roof::analysis {

namespace {

using Trained = std::tuple<std::string, std::string, std::string, long long>;  ///< model, precision, data, batch

/// A step on one device, beside the fastest of its group.
struct Entry {
    std::string place;
    const Measurement* row;
    const Measurement* fastest;  ///< null if none of the group was measured
};
using E = const Entry&;

bool is_measured(const Measurement& row)
{
    return row.status == Status::ok;
}

Change slowdown(E e)
{
    return change_of({}, "s", side_of(e.fastest->seconds), side_of(e.row->seconds));
}

Cell images_cell(E e)
{
    if (!is_measured(*e.row)) return absent();
    const double batch = static_cast<double>(batch_of(*e.row));
    const Estimate<Seconds>& t = e.row->seconds;
    return range({batch / t.median.value, batch / t.high.value, batch / t.low.value}, "images/s");
}

std::string verdict(E e)
{
    if (!is_measured(*e.row)) return status_text(*e.row);
    if (e.row == e.fastest) return "fastest";
    return slowdown(e).shown() ? "slower" : "not told apart";
}

std::map<Trained, std::vector<Entry>> entries(std::span<const Study> studies)
{
    std::map<Trained, std::vector<Entry>> groups;
    for (const Study& study : studies)
        for (const Measurement* row : step_rows(study.results.rows)) {
            if (batch_of(*row) <= 0) continue;
            const std::string threads = threads_of(*row) > 0 ? ", " + threads_text(threads_of(*row)) : "";
            const std::string machine = studies.size() > 1 ? owner_of(study.results.machine, row->device) + ": " : "";
            groups[{model_of(*row), precision_of(*row), data_of(*row), batch_of(*row)}].push_back(
                {machine + place_text(*row) + threads, row, nullptr});
        }
    return groups;
}

/// Sets the fastest of the group and sorts it: measured steps by time, then the others.
void rank(std::vector<Entry>& group)
{
    std::ranges::stable_sort(group, [](E a, E b) {
        if (is_measured(*a.row) != is_measured(*b.row)) return is_measured(*a.row);
        return is_measured(*a.row) && a.row->seconds.median < b.row->seconds.median;
    });
    if (is_measured(*group.front().row))
        for (Entry& entry : group) entry.fastest = group.front().row;
}

}  // namespace

DataTable winners_table(std::span<const Study> studies)
{
    static const std::vector<ColumnOf<Entry>> columns{
        {"model", "model", [](E e) { return word(model_of(*e.row)); }},
        {"precision", "precision", [](E e) { return word(precision_of(*e.row)); }},
        {"data", "data", [](E e) { return word(data_of(*e.row)); }},
        {"batch", "batch_images", [](E e) { return count(batch_of(*e.row)); }},
        {"device", "device", [](E e) { return word(e.place); }},
        {"images/s", "images_per_s_*", images_cell},
        {"n", "samples", [](E e) { return only_if(is_measured(*e.row), count(e.row->seconds.n)); }, {}, Align::right},
        {"of the fastest", "share_of_fastest",
         [](E e) { return only_if(is_measured(*e.row), share(is_measured(*e.row) ? 1 / slowdown(e).ratio : 0)); }},
        {"verdict", "verdict", [](E e) { return word(verdict(e)); }},
        {"", "reason", [](E e) { return word(e.row->reason); }},
    };
    std::vector<Entry> rows;
    for (auto& [step, group] : entries(studies)) {
        std::set<std::string> places;
        for (const Entry& entry : group) places.insert(entry.place);
        if (places.size() < 2) continue;
        rank(group);
        rows.insert(rows.end(), group.begin(), group.end());
    }
    DataTable table = table_of(columns, rows);
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        table.rows[i].is_for_programs_only = rows[i].fastest == nullptr;
        const std::string reason =
            fmt::format("{} {}: {}.", rows[i].place, status_text(*rows[i].row), rows[i].row->reason);
        if (!is_measured(*rows[i].row) && std::ranges::find(reasons, reason) == reasons.end())
            reasons.push_back(reason);
    }
    table.note = join(reasons, " ");
    table.title = "Devices side by side";
    table.expendable = {"data", "n", "precision"};
    table.identifying = {"model", "batch", "device"};
    return table;
}

}  // namespace roof::analysis
