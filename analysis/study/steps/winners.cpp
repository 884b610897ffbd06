// Which device is fastest at which batch, as a table and in sentences, and where one overtakes another.
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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
    const Measurement* fastest = nullptr;  ///< null if none of the group was measured
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
                    .push_back({&study, row});
    return groups;
}

/// Sets the fastest of the group and sorts it: measured steps by images per second, then the others.
void rank(std::vector<Entry>& group)
{
    std::ranges::stable_sort(group, [](E a, E b) {
        if (is_measured(a) != is_measured(b)) return is_measured(a);
        return is_measured(a) && a.row->images_per_second().median > b.row->images_per_second().median;
    });
    if (is_measured(group.front()))
        for (Entry& entry : group) entry.fastest = group.front().row;
}

using Series = std::map<long long, Entry>;      ///< by batch
using Devices = std::map<std::string, Series>;  ///< by device
/// Model, precision, data, tokens, phase.
using Trained = std::tuple<std::string, std::string, std::string, long long, std::string>;

std::map<Trained, Devices> trained(std::span<const Study> studies)
{
    std::map<Trained, Devices> all;
    for (const Study& study : studies)
        for (const Measurement* row : measured_steps(study.results.rows)) {
            if (batch_of(*row) <= 0 || took_turns(*row)) continue;
            const std::string machine = studies.size() > 1 ? owner_of(study.results.machine, row->device) + " " : "";
            all[{model_of(*row), precision_of(*row), data_of(*row), tokens_of(*row), phase_of(*row)}]
               [machine + where_text(*row, study.results.rows)]
                   .try_emplace(batch_of(*row), Entry{&study, row});
        }
    return all;
}

/// The batches at which the line through one end of the ratios crosses 1, on logarithmic scales, and whether it falls
/// there.
std::vector<std::pair<double, bool>> crossings_of(std::span<const RatioAtBatch> ratios, double Spread::*end)
{
    std::vector<std::pair<double, bool>> found;
    for (std::size_t i = 1; i < ratios.size(); ++i) {
        const double a = std::log(ratios[i - 1].ratio.*end), b = std::log(ratios[i].ratio.*end);
        if (!std::isfinite(a) || !std::isfinite(b) || (a > 0) == (b > 0)) continue;
        const double before = ratios[i - 1].batch;
        found.emplace_back(std::exp(std::log(before) + std::log(ratios[i].batch / before) * a / (a - b)), a > b);
    }
    return found;
}

std::vector<RatioAtBatch> ratios_of(const Series& first, const Series& second)
{
    std::vector<RatioAtBatch> ratios;
    for (const auto& [batch, step] : first) {
        const auto other = second.find(batch);
        if (other == second.end()) continue;
        const Change change = rate_change(*step.row, *other->second.row);
        ratios.push_back({static_cast<double>(batch), 1 / change.ratio});
    }
    return ratios;
}

/// "fastest at batch 4 on cpu, 2 threads; at batch 8 on …; ": by images per second; empty for one device.
std::string fastest_text(const Devices& devices)
{
    if (devices.size() == 1) return {};
    std::map<long long, std::pair<double, std::string>> best;
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series) {
            auto& [rate, winner] = best[batch];
            if (const double own = step.row->images_per_second().median; own > rate)
                std::tie(rate, winner) = std::tie(own, device);
        }
    std::vector<std::string> words;
    for (const auto& [batch, winner] : best) words.push_back(fmt::format("at batch {} on {}", batch, winner.second));
    return "fastest " + join(words, "; ") + "; ";
}

std::string crossings_text(const Devices& devices)
{
    std::string text;
    for (auto a = devices.begin(); a != devices.end(); ++a)
        for (auto b = std::next(a); b != devices.end(); ++b)
            for (const Crossover& c : crossovers(a->first, b->first, ratios_of(a->second, b->second)))
                text += fmt::format("{} overtakes {} at batch {} [{}, {}]; ", c.faster, c.slower,
                                    plain_number(c.batch, 2), plain_number(c.low, 2), plain_number(c.high, 2));
    return text;
}

Entry best_step(const Devices& devices)
{
    Entry best{nullptr, nullptr};
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series)
            if (best.row == nullptr || step.row->images_per_second().median > best.row->images_per_second().median)
                best = step;
    return best;
}

}  // namespace

DataTable winners_table(std::span<const Study> studies)
{
    static const std::vector<ColumnOf<Entry>> columns{
        {"machine", "machine", [](E e) { return word(owner_of(e.study->results.machine, e.row->device)); }},
        {"run", "run", [](E e) { return word(e.study->results.folder.filename().string()); }},
        {"rate of median step", "images_per_s_*",
         [](E e) {
             return is_measured(e) ? range(e.row->images_per_second(), batch_items({e.row, 1}) + "/s") : absent();
         }},
        {"n", "samples", [](E e) { return only_if(is_measured(e), count(e.row->seconds.n)); }},
        {"of the fastest", "share_of_fastest",
         [](E e) {
             return only_if(is_measured(e), share(is_measured(e) ? rate_change(*e.fastest, *e.row).ratio.median : 0));
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
    DataTable table =
        table_of_steps([](E e) -> auto& { return *e.row; }, columns, rows,
                       {.title = "Devices side by side", .expendable = {"n", "scaling", "of the fastest", "ranks"}});
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
    return table;
}

std::vector<Crossover> crossovers(const std::string& first, const std::string& second,
                                  std::span<const RatioAtBatch> ratios)
{
    // The first crossing of an end of the interval in the direction of the median's.
    const auto end_of = [&](double Spread::*end, bool falls, double otherwise) {
        for (const auto& [at, end_falls] : crossings_of(ratios, end))
            if (end_falls == falls) return at;
        return otherwise;
    };
    std::vector<Crossover> found;
    for (const auto& [at, falls] : crossings_of(ratios, &Spread::median)) {
        const double least = ratios.front().batch, most = ratios.back().batch;
        const double x = end_of(&Spread::low, falls, falls ? least : most);
        const double y = end_of(&Spread::high, falls, falls ? most : least);
        found.push_back(
            {falls ? first : second, falls ? second : first, at, std::min({x, y, at}), std::max({x, y, at})});
    }
    return found;
}

std::vector<std::string> summary(std::span<const Study> studies, std::size_t actions)
{
    std::vector<std::string> sentences;
    for (const auto& [what, devices] : trained(studies)) {
        const auto& [model, precision, data, tokens, phase] = what;
        const Entry best = best_step(devices);
        const std::string fed = data == "-" || data == "synthetic" ? "" : ", images of " + data;
        sentences.push_back(printable(fmt::format(
            "{} {}{}: {}{}most {} per second of the median step at batch {} on {}: {}; {}", model, precision, fed,
            fastest_text(devices), crossings_text(devices), batch_items({best.row, 1}), batch_text(*best.row),
            where_text(*best.row, best.study->results.rows), plain_number(best.row->images_per_second().median),
            answer_text(*best.study, *best.row, actions))));
    }
    return sentences;
}

}  // namespace roof::analysis
