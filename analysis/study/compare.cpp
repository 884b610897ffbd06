#include "analysis/study/compare.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace roof::analysis {

using nlohmann::json;

namespace {

constexpr double coverage_wanted = 0.9;

template <class Unit>
Side side(const Estimate<Unit>& e)
{
    return {e.median.value, e.low.value, e.high.value, e.n};
}

std::string ceiling_id(const Ceiling& c)
{
    std::string id = c.device + " " + std::string(name(c.kind));
    // The instruction set is not part of the id, because each calibration chooses it again.
    for (const std::string& word : {c.level, c.operation, c.precision, c.kind == Role::compute ? c.isa : ""})
        if (!word.empty()) id += " " + word;
    return id + fmt::format(" threads={}{}", c.threads, c.condition.empty() ? "" : ", " + c.condition);
}

/// Pairs ids that are on both sides as changes; lists the others.
struct Sides {
    std::vector<std::pair<std::string, Side>> a;
    std::vector<std::pair<std::string, Side>> b;

    std::vector<Change> match(const std::string& unit, std::vector<std::string>* only_a,
                              std::vector<std::string>* only_b) const
    {
        std::map<std::string, const Side*> rest;
        for (const auto& [id, value] : b) rest[id] = &value;
        std::vector<Change> changes;
        for (const auto& [id, value] : a) {
            const auto found = rest.find(id);
            if (found == rest.end()) {
                if (only_a) only_a->push_back(id);
                continue;
            }
            changes.push_back(change_of(id, unit, value, *found->second));
            rest.erase(found);
        }
        for (const auto& [id, value] : b)
            if (only_b && rest.contains(id)) only_b->push_back(id);
        return changes;
    }
};

std::vector<std::pair<std::string, Side>> steps_of(const Study& study)
{
    std::vector<std::pair<std::string, Side>> steps;
    for (const Measurement& row : study.results.rows)
        if (row.role == Role::step && row.status == Status::ok) steps.emplace_back(row.id(), side(row.seconds));
    return steps;
}

std::vector<std::pair<std::string, Side>> ceilings_of(const Study& study, Role kind)
{
    std::vector<std::pair<std::string, Side>> ceilings;
    for (const Ceiling& ceiling : study.ceilings.all)
        if (ceiling.kind == kind) ceilings.emplace_back(ceiling_id(ceiling), side(ceiling.rate));
    return ceilings;
}

std::string verdict(const Change& change, bool time)
{
    if (!change.enough) return fmt::format("too few samples to tell ({} and {})", change.a.n, change.b.n);
    if (!change.shown()) return "no difference shown";
    return (change.ratio > 1) == time ? "b is slower" : "b is faster";
}

using Words = std::vector<std::string>;

/// The words that all ids contain; none if there is only one id.
Words words_of_all(const std::vector<Change>& changes)
{
    Words common = changes.size() < 2 ? Words{} : split(changes.front().id, ' ');
    for (const Change& change : changes) {
        const Words words = split(change.id, ' ');
        std::erase_if(common, [&](const std::string& word) { return std::ranges::find(words, word) == words.end(); });
    }
    return common;
}

std::string without(const Words& common, const std::string& id)
{
    Words words = split(id, ' ');
    std::erase_if(words, [&](const std::string& word) { return std::ranges::find(common, word) != common.end(); });
    return join(words, " ");
}

/// Names without the words in `common`.
DataTable changes_table(const std::vector<Change>& changes, const std::string& what, bool time, const Words& common)
{
    DataTable table{.columns = {{what}, {"a [95%]"}, {"b [95%]"}, {"b/a"}, {"interval"}, {"verdict"}},
                    .expendable = {"b [95%]", "a [95%]", "interval"}};
    for (const Change& c : changes)
        table.rows.push_back(
            {{word(without(common, c.id)), range({c.a.median, c.a.low, c.a.high}, c.unit),
              range({c.b.median, c.b.low, c.b.high}, c.unit), numeric_text(fmt::format("{:.3f}", c.ratio)),
              word(fmt::format("[{:.3f}, {:.3f}]", c.low, c.high)), word(verdict(c, time))}});
    return table;
}

/// In a narrow window, words that all names share are written once above them.
std::string changes_text(const std::vector<Change>& changes, const std::string& what, bool time, int columns)
{
    const std::string whole = to_text(changes_table(changes, what, time, {}));
    if (columns <= 0 || display_columns(split(whole, '\n').front()) <= static_cast<std::size_t>(columns)) return whole;
    const Words common = words_of_all(changes);
    DataTable table = changes_table(changes, what, time, common);
    if (!common.empty()) table.title = "All: " + printable(join(common, " "));
    return to_text(table, columns);
}

std::string list_of(const std::string& head, const std::vector<std::string>& ids)
{
    std::string text = ids.empty() ? "" : "\n" + head + "\n";
    for (const std::string& id : ids) text += "  " + printable(id) + "\n";
    return text;
}

std::string how_many_moved(const Comparison& c)
{
    const std::size_t changed = moved(c).size();
    if (changed == 0) return fmt::format("none of {} ceilings moved beyond its interval", c.ceilings.size());
    return fmt::format("{} of {} ceilings moved beyond their intervals", changed, c.ceilings.size());
}

json changes_json(const std::vector<Change>& changes, bool time)
{
    const auto side_json = [](const Side& s) {
        return json{
            {"median", json_number(s.median)}, {"low", json_number(s.low)}, {"high", json_number(s.high)}, {"n", s.n}};
    };
    json list = json::array();
    for (const Change& c : changes)
        list.push_back(
            {{"id", json_text(c.id)},
             {"unit", c.unit},
             {"a", side_json(c.a)},
             {"b", side_json(c.b)},
             {"ratio", {{"median", json_number(c.ratio)}, {"low", json_number(c.low)}, {"high", json_number(c.high)}}},
             {"difference_shown", c.shown()},
             {"verdict", verdict(c, time)}});
    return list;
}

json texts_json(const std::vector<std::string>& texts)
{
    json list = json::array();
    for (const std::string& text : texts) list.push_back(json_text(text));
    return list;
}

}  // namespace

Change change_of(std::string id, std::string unit, const Side& a, const Side& b)
{
    Change change{std::move(id), std::move(unit), a, b};
    change.ratio = b.median / a.median;
    const double down = std::hypot(std::log(b.median / b.low), std::log(a.high / a.median));
    const double up = std::hypot(std::log(b.high / b.median), std::log(a.median / a.low));
    change.low = change.ratio * std::exp(-down);
    change.high = change.ratio * std::exp(up);
    const auto covered = [](const Side& s) {
        return s.n > 0 && median_interval(static_cast<std::size_t>(s.n)).coverage >= coverage_wanted;
    };
    change.enough = covered(a) && covered(b) && std::isfinite(change.low) && std::isfinite(change.high);
    return change;
}

bool Change::shown() const
{
    return enough && (low > 1 || high < 1) && std::abs(std::log(ratio)) > floor;
}

void set_noise(Comparison& comparison, const Study& a, const Study& again)
{
    const std::vector<Change> same = Sides{steps_of(a), steps_of(again)}.match("s", nullptr, nullptr);
    if (same.empty())
        throw InputError("'" + again.results.folder.string() + "' has no step in common with '" +
                         a.results.folder.string() + "': it is not a second run of it");
    for (const Change& change : same) comparison.floor = std::max(comparison.floor, std::abs(std::log(change.ratio)));
    for (Change& change : comparison.steps) change.floor = comparison.floor;
}

std::vector<Change> slower_than(const Comparison& comparison, double share)
{
    std::vector<Change> changes;
    for (const Change& change : comparison.steps)
        if (change.shown() && change.ratio > 1 + share) changes.push_back(change);
    return changes;
}

Comparison compare(const Study& a, const Study& b)
{
    Comparison result;
    result.a = a.results.folder.string();
    result.b = b.results.folder.string();
    result.steps = Sides{steps_of(a), steps_of(b)}.match("s", &result.only_a, &result.only_b);
    constexpr std::array<std::pair<Role, const char*>, 3> kinds{
        {{Role::bandwidth, "B/s"}, {Role::compute, "FLOP/s"}, {Role::latency, "lines/s"}}};
    for (const auto& [kind, unit] : kinds) {
        const Sides sides{ceilings_of(a, kind), ceilings_of(b, kind)};
        for (Change& change : sides.match(unit, nullptr, nullptr)) result.ceilings.push_back(std::move(change));
    }
    if (a.results.machine.name != b.results.machine.name)
        result.notes.push_back("the machines differ: '" + a.results.machine.name + "' and '" + b.results.machine.name +
                               "'");
    const bool same_calibration = !a.calibration.folder.empty() && a.calibration.folder == b.calibration.folder;
    if (same_calibration) result.notes.push_back("both sides use the same calibration: its ceilings cannot differ");
    return result;
}

std::string to_text(const Comparison& c, int columns)
{
    const auto fitted = [columns](const std::string& lines) {
        return lines.empty() ? lines : fitted_lines(lines, columns);
    };
    std::string head = "a: " + printable(c.a) + "\nb: " + printable(c.b) + "\n";
    for (const std::string& note : c.notes) head += "note: " + printable(note) + "\n";
    std::string text = fitted(head);
    text += c.steps.empty() ? "\nNo step was measured on both sides.\n"
                            : "\n" + changes_text(c.steps, "step time", true, columns);
    if (c.floor > 0)
        text += fitted(fmt::format("Two runs of a differ by up to {}: no smaller difference is shown.\n",
                                   percent(std::exp(c.floor) - 1)));
    if (!c.ceilings.empty())
        text += "\n" + changes_text(c.ceilings, "ceiling", false, columns) + how_many_moved(c) + "\n";
    return text + fitted(list_of("Measured only in a:", c.only_a) + list_of("Measured only in b:", c.only_b)) +
           fitted(
               "\nIntervals of the ratios combine both sides' 95% intervals as independent, on the logarithmic "
               "scale.\n");
}

json to_json(const Comparison& c)
{
    return {{"a", json_text(c.a)},
            {"b", json_text(c.b)},
            {"notes", texts_json(c.notes)},
            {"noise_floor", c.floor > 0 ? json_number(std::exp(c.floor)) : json(nullptr)},
            {"steps", changes_json(c.steps, true)},
            {"ceilings", changes_json(c.ceilings, false)},
            {"ceilings_moved", moved(c).size()},
            {"only_a", texts_json(c.only_a)},
            {"only_b", texts_json(c.only_b)}};
}

std::vector<Change> moved(const Comparison& comparison)
{
    std::vector<Change> changes;
    for (const Change& change : comparison.ceilings)
        if (change.shown()) changes.push_back(change);
    return changes;
}

std::string drift_text(const Comparison& comparison, int columns)
{
    const std::vector<Change> changes = moved(comparison);
    const std::string head = "drift since " + printable(comparison.a) + ": " + how_many_moved(comparison) + "\n";
    return changes.empty() ? head : head + changes_text(changes, "ceiling", false, columns);
}

json drift_json(const Comparison& comparison)
{
    return {{"since", json_text(comparison.a)},
            {"compared", comparison.ceilings.size()},
            {"moved", changes_json(moved(comparison), false)}};
}

}  // namespace roof::analysis
