#include "analysis/study/compared/compare.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace roof::analysis {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;
/// What is compared, by the words of its name.
using Sides = std::vector<std::pair<Words, Side>>;

/// The instruction set is no word of a level, because each calibration chooses it again.
Words words_of(const Ceiling& c)
{
    Words words{c.device, std::string(name(c.kind))};
    for (const std::string& word : {c.level, c.operation, c.precision, c.kind == Role::compute ? c.isa : ""})
        if (!word.empty()) words.push_back(word);
    words.push_back(fmt::format("threads={}{}", c.threads, c.condition.empty() ? "" : ","));
    if (!c.condition.empty()) words.push_back(c.condition);
    return words;
}

/// Machines of different size run the same plan with different numbers of threads.
Words words_of(const Measurement& row, bool with_threads)
{
    Words words{row.bench, row.device};
    for (const auto& [axis, value] : row.point.values())
        if (with_threads || axis != "threads") words.push_back(axis + "=" + value);
    return words;
}

const char* unit_of(Judged judged)
{
    return judged == Judged::by_time ? "s" : "x";
}

/// Pairs names that are on both sides as changes; lists the others. Of equal names on one side the first counts.
std::vector<Change> match(const Sides& a, const Sides& b, const std::string& unit, Words* only_a, Words* only_b)
{
    std::map<Words, const Side*> rest;
    for (const auto& [words, value] : b) rest.try_emplace(words, &value);
    std::vector<Change> changes;
    for (const auto& [words, value] : a) {
        const auto found = rest.find(words);
        if (found == rest.end()) {
            if (only_a) only_a->push_back(join(words, " "));
            continue;
        }
        changes.push_back(change_of(words, unit, value, *found->second));
        rest.erase(found);
    }
    for (const auto& [words, value] : b)
        if (only_b && rest.erase(words) > 0) only_b->push_back(join(words, " "));
    return changes;
}

Sides steps_of(const Study& study, bool with_threads, Judged judged, Words* without_roofs = nullptr)
{
    Sides steps;
    std::map<std::string, double> between;
    if (judged == Judged::by_time) between = between_times(study);
    for (const Measurement& row : study.results.rows) {
        if (row.role != Role::step || row.status != Status::ok) continue;
        const Words words = words_of(row, with_threads);
        std::optional<Side> side = judged == Judged::by_time ? step_side(row) : times_the_least(study, row);
        if (const auto known = between.find(row.id()); known != between.end()) side->between = known->second;
        if (side)
            steps.emplace_back(words, *side);
        else if (without_roofs)
            without_roofs->push_back(join(words, " "));
    }
    return steps;
}

/// The ceilings of a kind; of equal names the fastest, which is the roof.
Sides ceilings_of(const Study& study, Role kind)
{
    std::map<Words, Side> fastest;
    for (const Ceiling& ceiling : study.ceilings.all) {
        if (ceiling.kind != kind) continue;
        const bool is_joint = ceiling.alone.rate.n > 0;
        Side side = side_of(is_joint ? ceiling.alone.rate : ceiling.rate);
        if ((is_joint ? ceiling.alone.steadiness : ceiling.steadiness) == Steadiness::at_least)
            side.high = std::numeric_limits<double>::infinity();
        side.between = ceiling.between_others;
        Side& best = fastest[words_of(ceiling)];
        if (side.median > best.median) best = side;
    }
    return {fastest.begin(), fastest.end()};
}

std::string verdict_on_b(const Change& change)
{
    return (change.shown() ? "b is " : "") + verdict_of(change);
}

/// The words that all names contain; none if there is only one name.
Words words_of_all(const std::vector<Change>& changes)
{
    Words common = changes.size() < 2 ? Words{} : changes.front().words;
    for (const Change& change : changes)
        std::erase_if(common, [&](const std::string& word) { return !is_in(word, change.words); });
    return common;
}

/// The table of the changes, the largest first; words that all names share are written once above it.
std::string changes_text(std::vector<Change> changes, const std::string& what, int columns)
{
    using C = const Change&;
    std::ranges::stable_sort(changes, std::greater{}, [](C c) {
        return std::pair(c.differs(), c.differs() ? std::abs(std::log(c.ratio.median)) : 0.0);
    });
    const Words common = words_of_all(changes);
    DataTable table = table_of<Change>(
        {{what, "",
          [&](C c) {
              Words words = c.words;
              std::erase_if(words, [&](const std::string& w) { return is_in(w, common); });
              return word(join(words, " "));
          }},
         {"a [95%]", "", [](C c) { return c.cell(c.a); }},
         {"b [95%]", "", [](C c) { return c.cell(c.b); }},
         {"n", "", [](C c) { return numeric_text(samples_text(c.a.n) + " | " + samples_text(c.b.n)); }},
         {"b/a", "", [](C c) { return numeric_text(fmt::format("{:.3f}", c.ratio.median)); }},
         {"interval", "",
          [](C c) {
              return word(fmt::format("[{:.3f}, {}]", c.ratio.low,
                                      c.b.is_at_least() ? "?" : fmt::format("{:.3f}", c.ratio.high)));
          }},
         {"verdict", "", [](C c) { return word(verdict_on_b(c)); }}},
        changes);
    table.expendable = {"n", "b [95%]", "a [95%]", "interval"};
    if (!common.empty()) table.title = "All: " + printable(join(common, " "));
    return to_text(table, columns);
}

std::size_t not_judged(const std::vector<Change>& changes)
{
    return static_cast<std::size_t>(std::ranges::count(changes, false, &Change::judged));
}

std::string how_many_moved(const Comparison& c)
{
    const std::size_t all = c.ceilings.size(), changed = moved(c).size(), unjudged = not_judged(c.ceilings);
    const char* const why =
        std::ranges::any_of(c.ceilings, [](const Change& change) { return change.enough && !change.judged(); })
            ? "too few samples, or a lower bound"
            : "too few samples";
    const std::string rest = unjudged == 0 ? "" : fmt::format("; {} not judged: {}", unjudged, why);
    if (all > 0 && unjudged == all) return fmt::format("none of {} ceilings was judged: {}", all, why);
    if (changed == 0) return fmt::format("none of {} ceilings moved beyond its interval{}", all, rest);
    return fmt::format("{} of {} ceilings moved beyond {}{}", changed, all,
                       changed == 1 ? "its interval" : "their intervals", rest);
}

std::string how_many_steps(const Comparison& c)
{
    const auto changed = std::ranges::count_if(c.steps, &Change::shown);
    const std::size_t unjudged = not_judged(c.steps);
    const auto unsure = std::ranges::find_if(c.steps, [](const Change& change) { return !change.unsure.empty(); });
    const std::string why = unsure == c.steps.end() ? "too few samples" : unsure->unsure + ", without --noise";
    return fmt::format("{} of {} {}{}\n", changed, how_many(c.steps.size(), "step"),
                       changed == 1 ? "differs" : "differ",
                       unjudged == 0 ? "" : fmt::format("; {} not judged: {}", unjudged, why));
}

json changes_json(const std::vector<Change>& changes)
{
    const auto side_json = [](const Side& s) {
        json side = to_json(static_cast<const Spread&>(s));
        side["n"] = s.n;
        side["processes"] = s.processes;
        side["half_width_between_times"] = s.between ? json_number(*s.between) : json(nullptr);
        return side;
    };
    return mapped(changes, [&](const Change& c) -> json {
        return {{"id", json_text(c.id())},   {"unit", c.unit},
                {"a", side_json(c.a)},       {"b", side_json(c.b)},
                {"ratio", to_json(c.ratio)}, {"difference_shown", c.shown()},
                {"verdict", verdict_on_b(c)}};
    });
}

/// The command that shows runs of different devices together.
std::string side_by_side(const Comparison& c)
{
    return "Different devices stand side by side in:\n  roof report " + printable(c.a) + " " + printable(c.b) + "\n";
}

}  // namespace

std::string id_of(const Ceiling& ceiling)
{
    return join(words_of(ceiling), " ");
}

void set_noise(Comparison& comparison, const Study& a, const Study& again)
{
    const std::vector<Change> same =
        match(steps_of(a, true, comparison.judged), steps_of(again, true, comparison.judged),
              unit_of(comparison.judged), nullptr, nullptr);
    if (same.empty())
        throw InputError("'" + again.results.folder.string() + "' has no step in common with '" +
                         a.results.folder.string() + "': it is not a second run of it");
    for (const Change& change : same)
        comparison.floor = std::max(comparison.floor, std::abs(std::log(change.ratio.median)));
    for (Change& change : comparison.steps) {
        change.floor = comparison.floor;
        change.unsure.clear();
    }
}

std::vector<Change> slower_than(const Comparison& comparison, double share)
{
    std::vector<Change> changes = comparison.steps;
    std::erase_if(changes, [&](const Change& change) { return !change.differs() || change.ratio.median <= 1 + share; });
    return changes;
}

Comparison compare(const Study& a, const Study& b, Judged judged)
{
    Comparison result;
    result.a = a.results.folder.string();
    result.b = b.results.folder.string();
    result.judged = judged;
    if (judged == Judged::by_roofs)
        for (const Study* side : {&a, &b}) note_roofs(result.notes, *side);
    const bool same_machine = a.results.machine.name == b.results.machine.name;
    const bool same_size = same_machine || a.results.machine.threads == b.results.machine.threads;
    result.steps =
        match(steps_of(a, same_size, judged, &result.without_roofs),
              steps_of(b, same_size, judged, &result.without_roofs), unit_of(judged), &result.only_a, &result.only_b);
    for (Change& change : result.steps) {
        share_between(a, change.a, b, change.b);
        change = step_change(std::move(change.words), std::move(change.unit), change.a, change.b);
    }
    constexpr std::array<std::pair<Role, const char*>, 3> kinds{
        {{Role::bandwidth, "B/s"}, {Role::compute, "FLOP/s"}, {Role::latency, "lines/s"}}};
    for (const auto& [kind, unit] : kinds)
        for (Change& change : match(ceilings_of(a, kind), ceilings_of(b, kind), unit, nullptr, nullptr)) {
            share_between(a, change.a, b, change.b);
            result.ceilings.push_back(change_of(std::move(change.words), std::move(change.unit), change.a, change.b));
        }
    if (!same_machine)
        result.notes.push_back("the machines differ: '" + a.results.machine.name + "' and '" + b.results.machine.name +
                               "'");
    const bool same_calibration = !a.calibration.folder.empty() && a.calibration.folder == b.calibration.folder;
    if (same_calibration) result.notes.push_back("both sides use the same calibration: its ceilings cannot differ");
    return result;
}

std::string to_text(const Comparison& c, int columns)
{
    const auto fitted = [columns](const std::string& lines) { return fitted_lines(lines, columns); };
    std::string head = "a: " + printable(c.a) + "\nb: " + printable(c.b) + "\n";
    for (const std::string& note : c.notes) head += "note: " + printable(note) + "\n";
    std::string text = fitted(head);
    const bool are_calibrations = c.only_a.empty() && c.only_b.empty() && !c.ceilings.empty();
    if (!c.steps.empty() || !are_calibrations)
        text += c.steps.empty()
                    ? "\nNo step was measured on both sides. " + side_by_side(c)
                    : "\n" +
                          changes_text(c.steps, c.judged == Judged::by_time ? "step time" : "step time over the least",
                                       columns) +
                          fitted(how_many_steps(c));
    if (c.floor > 0)
        text += fitted(fmt::format("Two runs of a differ by up to {}: no smaller difference is shown.\n",
                                   percent(std::exp(c.floor) - 1)));
    if (const std::vector<Change> changed = moved(c); !changed.empty())
        text += "\n" + changes_text(changed, "ceiling", columns);
    if (!c.ceilings.empty()) text += fitted((moved(c).empty() ? "\n" : "") + how_many_moved(c) + "\n");
    return text +
           fitted(listed("\nMeasured only in a:", c.only_a) + listed("\nMeasured only in b:", c.only_b) +
                  listed("\nWithout roofs:", c.without_roofs)) +
           fitted(
               "\nIntervals of the ratios combine both sides' 95% intervals as independent, on the logarithmic scale; "
               "those of steps and ceilings also what the machine's looks at these roofs differ by.\n");
}

json to_json(const Comparison& c)
{
    return {{"a", json_text(c.a)},
            {"b", json_text(c.b)},
            {"judged", c.judged == Judged::by_roofs ? "by roofs" : "by time"},
            {"notes", json_texts(c.notes)},
            {"noise_floor", c.floor > 0 ? json_number(std::exp(c.floor)) : json(nullptr)},
            {"steps", changes_json(c.steps)},
            {"ceilings", changes_json(c.ceilings)},
            {"ceilings_moved", moved(c).size()},
            {"ceilings_not_judged", not_judged(c.ceilings)},
            {"steps_not_judged", not_judged(c.steps)},
            {"only_a", json_texts(c.only_a)},
            {"only_b", json_texts(c.only_b)},
            {"without_roofs", json_texts(c.without_roofs)}};
}

std::vector<Change> moved(const Comparison& comparison)
{
    std::vector<Change> changes = comparison.ceilings;
    std::erase_if(changes, [](const Change& change) { return !change.shown(); });
    return changes;
}

std::string drift_text(const Comparison& comparison, int columns)
{
    const std::vector<Change> changes = moved(comparison);
    const std::string head = "drift since " + printable(comparison.a) + ": " + how_many_moved(comparison) + "\n";
    return changes.empty() ? head : head + changes_text(changes, "ceiling", columns);
}

json drift_json(const Comparison& comparison)
{
    return {{"since", json_text(comparison.a)},
            {"compared", comparison.ceilings.size()},
            {"moved", changes_json(moved(comparison))}};
}

}  // namespace roof::analysis
