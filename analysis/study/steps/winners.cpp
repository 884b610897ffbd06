#include "analysis/study/tables.hpp"

#include "analysis/study/compared/compare.hpp"
#include "analysis/table/judged.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace roof::analysis {

namespace {

/// Model, precision, data, optimizer, tokens, phase, batch.
using TrainedWith = std::tuple<std::string, std::string, std::string, std::string, long long, std::string, long long>;

/// A step on one device, beside the fastest of its group.
struct Entry {
    const Study* study;
    const Measurement* row;
    const Measurement* fastest;  ///< null if none of the group was measured
};
using E = const Entry&;

bool is_measured(E e)
{
    return e.row->status == Status::ok && !took_turns(*e.row);
}

std::string verdict(E e)
{
    if (took_turns(*e.row)) return "its ranks took turns";
    if (!is_measured(e)) return status_text(*e.row);
    if (e.row == e.fastest) return "fastest";
    const Change change = rate_change(*e.fastest, *e.row);
    return change.shown() || !change.enough || change.may_be_busy() ? verdict_of(change) : "not told apart";
}

/// What it ran on, and how.
std::string place_of(E e)
{
    Point point = e.row->point;
    for (const char* shared : {"model", "precision", "data", "batch"}) point = point.without(shared);
    return owner_of(e.study->results.machine, e.row->device) + " " + e.row->device + " " + point.str();
}

std::map<TrainedWith, std::vector<Entry>> entries(std::span<const Study> studies)
{
    std::map<TrainedWith, std::vector<Entry>> groups;
    for (const Study& study : studies)
        for (const Measurement* row : step_rows(study.results.rows))
            if (batch_of(*row) > 0)
                groups[{model_of(*row), precision_of(*row), data_of(*row), row->point.text_or("optimizer", "sgd"),
                        tokens_of(*row), phase_of(*row), batch_of(*row)}]
                    .push_back({&study, row, nullptr});
    return groups;
}

/// Sets the fastest of the group and sorts it: measured steps by images per second, then the others.
void rank(std::vector<Entry>& group)
{
    std::ranges::stable_sort(group, [](E a, E b) {
        if (is_measured(a) != is_measured(b)) return is_measured(a);
        return is_measured(a) && image_rate(*a.row).median > image_rate(*b.row).median;
    });
    if (is_measured(group.front()))
        for (Entry& entry : group) entry.fastest = group.front().row;
}

}  // namespace

DataTable winners_table(std::span<const Study> studies)
{
    static const std::vector<ColumnOf<Entry>> columns{
        {"machine", "machine", [](E e) { return word(owner_of(e.study->results.machine, e.row->device)); }},
        {"run", "run", [](E e) { return word(e.study->results.folder.filename().string()); }},
        {"rate of median step", "images_per_s_*",
         [](E e) {
             return is_measured(e) ? range(image_rate(*e.row), batch_items({e.row, 1}) + "/s") : absent();
         }},
        {"n", "samples", [](E e) { return only_if(is_measured(e), count(e.row->seconds.n)); }},
        {"of the fastest", "share_of_fastest",
         [](E e) {
             return only_if(is_measured(e), share(is_measured(e) ? rate_change(*e.fastest, *e.row).ratio : 0));
         }},
        {"verdict", "verdict", [](E e) { return word(verdict(e)); }},
        {"", "reason", [](E e) { return word(e.row->reason); }},
    };
    std::vector<Entry> rows;
    for (auto& [step, group] : entries(studies)) {
        std::set<std::string> places;
        for (const Entry& entry : group) places.insert(place_of(entry));
        if (places.size() < 2) continue;
        rank(group);
        rows.insert(rows.end(), group.begin(), group.end());
    }
    DataTable table = table_of_steps(
        [](E e) -> auto& { return *e.row; }, columns, rows);
    for (const char* of_study : {"machine", "run"}) {
        table.identifying.emplace_back(of_study);
        const std::size_t at = table.column(of_study);
        if (studies.size() < 2 || is_constant(table, at)) table.columns[at].title.clear();
    }
    std::map<std::string, std::set<std::string>> missing;  // devices by status and reason
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Measurement& row = *rows[i].row;
        table.rows[i].is_for_programs_only = rows[i].fastest == nullptr || row.status == Status::unsupported;
        if (row.status != Status::ok) missing[status_text(row) + ": " + row.reason].insert(row.device);
    }
    for (const auto& [reason, devices] : missing)
        table.note += fmt::format("{}{} {}.", table.note.empty() ? "" : " ",
                                  join(std::vector(devices.begin(), devices.end()), " and "), reason);
    table.title = "Devices side by side";
    table.expendable = {"n", "scaling", "of the fastest", "ranks"};
    return table;
}

}  // namespace roof::analysis
