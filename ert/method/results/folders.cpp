// Chooses the results folder of a command, and finds the calibration for placing its rows.
#include "ert/base/error.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/bench/node.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>
#include <span>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The folders in `here` and those beside it, each list with the newest first.
std::vector<fs::path> in_and_beside(const fs::path& here)
{
    std::vector<fs::path> places = newest_first(here);
    const std::vector<fs::path> beside =
        newest_first(here.has_filename() ? here.parent_path() : here.parent_path().parent_path());
    places.insert(places.end(), beside.begin(), beside.end());
    return places;
}

/// The first sentence on this file of the folder; empty if there is none.
std::string sentence_on(const fs::path& place, const char* file, const std::vector<std::string>& damage)
{
    const std::string begin = (place / file).string() + ": ";
    const auto found = std::ranges::find_if(damage, [&](const std::string& one) { return one.starts_with(begin); });
    return found == damage.end() ? "" : *found;
}

/// Adds what is to be said of a folder that was not taken. `damage`: what is wrong with it; `why`: a reason that is no damage. Both may be empty.
void pass_over(const fs::path& place, const std::string& damage, const std::string& why, PassedOver* over)
{
    if (over == nullptr) return;
    if (!damage.empty())
        over->damage.push_back(damage + fmt::format("; '{}' was passed over", place.filename().string()));
    else if (is_of_other_format(place))
        over->remarks.push_back(place.string() + " was passed over: it is of another format");
    else if (!why.empty())
        over->remarks.push_back(place.string() + " was passed over: " + why);
}

/// Whether the entry's rows are repeated for what lasts.
bool is_sustained(const PlanEntry& entry)
{
    return entry.stopping.sustain.value > 0;
}

/// Whether the folder's machine.yaml names this node or none.
bool is_of_node(const fs::path& folder, const std::string& node)
{
    if (!fs::exists(folder / "machine.yaml")) return true;
    try {
        const std::string other = read_machine_of(folder).node;
        return other.empty() || other == node;
    } catch (const Error&) {
        return false;
    }
}

bool is_complete(const fs::path& folder, const Scheduler& scheduler)
{
    if (!fs::exists(folder / "measurements.csv")) return false;
    try {
        const Results results = read_results(folder);
        const bool has_ended =
            std::ranges::find(results.rows, Status::skipped, &Measurement::status) != results.rows.end();
        return !results.damage.empty() || has_ended || scheduler.next(results.rows).empty();
    } catch (const Error&) {
        return true;  // nothing is appended to a damaged folder
    }
}

/// Whether each entry of the plan has a row of the last round, or one that this machine cannot measure.
bool is_finished(const Plan& plan, std::span<const Measurement> rows)
{
    const std::string last = plan.max_rounds > 1 ? std::to_string(plan.rounds) : "";
    return std::ranges::all_of(plan.entries, [&](const PlanEntry& entry) {
        const auto operations = entry.axes.find("operation");
        return std::ranges::any_of(rows, [&](const Measurement& row) {
            return row.bench == entry.bench && row.device == entry.device && row.status != Status::skipped &&
                   (operations == entry.axes.end() ||
                    row.point.text_or("operation", "") == operations->second.back()) &&
                   (row.status != Status::ok || row.point.text_or("round", "") == last);
        });
    });
}

/// `full` without a plan, and with one of another version. Empty for a plan that repeats rows for what lasts: its ceilings are beside those of
/// a calibration, and do not replace them.
std::optional<CalibrationKind> kind_by_plan(const fs::path& file, std::span<const Measurement> rows)
{
    try {
        if (!fs::exists(file)) return CalibrationKind::full;
        const Plan plan = load_plan(file);
        if (std::ranges::any_of(plan.entries, is_sustained)) return {};
        if (!is_finished(plan, rows)) return CalibrationKind::unfinished;
        return plan.quick ? CalibrationKind::quick : CalibrationKind::full;
    } catch (const InputError&) {
        return CalibrationKind::full;
    }
}

/// What a folder with these rows is; empty if they have no ceilings of bandwidth and of compute.
std::optional<CalibrationKind> kind_of(const fs::path& folder, std::span<const Measurement> rows)
{
    // Probes with a path that is no level, and tiles, show ceilings of their own.
    const auto measured = [&](Role role) {
        return std::ranges::any_of(rows, [&](const Measurement& row) {
            return row.role == role && row.status == Status::ok &&
                   level_traits(row.point.text_or("path", core_level)).kind != LevelKind::path &&
                   row.point.text_or("isa", "") != "tiles";
        });
    };
    if (!measured(Role::bandwidth) || !measured(Role::compute)) return {};
    return kind_by_plan(folder / "plan.yaml", rows);
}

/// What one reading of a folder shows.
struct Look {
    std::optional<CalibrationKind>
        kind;            ///< empty if it has no ceilings, or of another machine, or if it cannot be read
    std::string damage;  ///< of one that may have ceilings; empty for one that holds steps alone
};

/// `machine_name`: of the machine whose ceilings are looked for, or empty for any.
Look look_at(const fs::path& place, const std::string& machine_name = {})
{
    Look look;
    try {
        if (is_of_other_format(place)) {
            if (fs::exists(place / seal_file))  // it may be the format that was changed
                look.damage = sentence_on(place, "machine.yaml", check_seal(place).damage);
        } else if (fs::exists(place / "measurements.csv")) {
            const Results results = read_results(place);
            const bool is_other = !machine_name.empty() && results.machine.name != machine_name;
            if (!is_other) look.kind = kind_of(place, results.rows);
            const bool has_only_steps =
                !results.rows.empty() &&
                std::ranges::all_of(results.rows, [](const Measurement& row) { return row.role == Role::step; });
            if (!results.damage.empty() &&
                !(has_only_steps && sentence_on(place, "measurements.csv", results.damage).empty()))
                look.damage = results.damage.front();
        } else if (fs::exists(place / seal_file)) {
            const std::vector<std::string> damage = check_seal(place).damage;
            look.damage = damage.empty() ? "" : damage.front();
        }
    } catch (const Error& error) {
        look.damage = error.what();
    }
    return look;
}

/// The newest folder, in `here` or beside it, with rows of a plan that has such an entry, and for which `serves` is true; empty without one.
fs::path newest_with(const fs::path& here, const std::function<bool(const PlanEntry& entry)>& has,
                     const std::function<bool(const fs::path& place)>& serves, PassedOver* over)
{
    for (const fs::path& place : in_and_beside(here)) {
        if (!fs::exists(place / "plan.yaml")) continue;
        try {
            if (!std::ranges::any_of(load_plan(place / "plan.yaml").entries, has)) continue;
            if (fs::exists(place / "measurements.csv") && serves(place)) return place;
        } catch (const Error&) {  // damaged, or of another format: as below
        }
        if (over != nullptr) pass_over(place, look_at(place).damage, "", over);
    }
    return {};
}

/// A folder and what it is, if it was looked at.
using Looks = std::vector<std::pair<fs::path, std::optional<Look>>>;

/// The first of the best kind; empty if there is none. Adds the places before a full one to `seen`, else all.
fs::path first_calibration(std::span<const fs::path> places, const std::string& machine_name, Looks& seen)
{
    fs::path best;
    std::optional<CalibrationKind> kind;
    for (const fs::path& place : places) {
        seen.emplace_back(place, look_at(place, machine_name));
        const std::optional<CalibrationKind>& here = seen.back().second->kind;
        if (!here || (kind && *here <= *kind)) continue;
        best = place;
        kind = here;
        if (*kind == CalibrationKind::full) break;
    }
    return best;
}

/// Names what is newer than the calibration that was taken, or all without one.
void name_newer(const Looks& seen, const fs::path& here, const fs::path& chosen, PassedOver* over)
{
    for (const auto& [place, seen_look] : seen) {
        const bool is_newer = chosen.empty() || place.filename() > chosen.filename();
        if (over == nullptr || !is_newer || place == chosen || place == here) continue;
        const Look look = seen_look ? *seen_look : look_at(place);
        pass_over(place, look.damage,
                  look.kind == CalibrationKind::quick        ? "it is a quick calibration"
                  : look.kind == CalibrationKind::unfinished ? "its calibration was stopped early"
                                                             : "",
                  over);
    }
}

/// How the folders of this node and version end.
std::string ending_of(const Machine& machine)
{
    const auto version = machine.versions.find("revision");
    const std::string ending = version == machine.versions.end() ? "-unknown" : "-" + version->second;
    return machine.node.empty() ? ending : "-" + machine.node + ending;
}

/// The newest folder in `home` of this node, version and plan; empty if there is none.
fs::path newest_of_plan(const fs::path& home, const Machine& machine, const std::string& plan_text)
{
    for (const fs::path& folder : newest_first(home)) {
        if (!folder.filename().string().ends_with(ending_of(machine)) || !fs::exists(folder / "plan.yaml")) continue;
        if (read_file(folder / "plan.yaml") == plan_text && is_of_node(folder, machine.node)) return folder;
    }
    return {};
}

}  // namespace

std::vector<fs::path> newest_first(const fs::path& parent)
{
    std::vector<fs::path> folders;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, none)) {
        if (entry.is_directory()) folders.push_back(entry.path());
    }
    std::ranges::sort(folders, std::greater{});
    return folders;
}

fs::path choose_folder(const fs::path& root, const Machine& machine, const std::string& plan_text,
                       const Scheduler& scheduler)
{
    const fs::path home = root / machine.name;
    const std::string ending = ending_of(machine);
    // Older runs are abandoned: reading all of them would take longer with each run.
    if (fs::path newest = newest_of_plan(home, machine, plan_text); !newest.empty() && !is_complete(newest, scheduler))
        return newest;
    const std::string stamp = fmt::format("{:%Y-%m-%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
    fs::path folder = home / (stamp + ending);
    for (int copy = 2; fs::exists(folder); ++copy) folder = home / fmt::format("{}.{}{}", stamp, copy, ending);
    return folder;
}

fs::path folder_to_continue(const fs::path& root, const Machine& machine, const std::string& plan_text)
{
    fs::path newest = newest_of_plan(root / machine.name, machine, plan_text);
    if (newest.empty())
        throw InputError("there is nothing to continue in " + (root / machine.name).string() +
                         ": no results of this machine by the same plan and version of roof");
    return newest;
}

CalibrationKind calibration_kind(const fs::path& folder, std::span<const Measurement> rows)
{
    return kind_of(folder, rows).value_or(CalibrationKind::full);
}

fs::path find_calibration(const fs::path& folder, std::string node, PassedOver* over, const Results* own)
{
    fs::path here = fs::absolute(folder).lexically_normal();
    std::string machine_name;
    if (fs::exists(here / "machine.yaml")) {
        const Machine machine = read_machine_of(here);
        machine_name = machine.name;
        if (node.empty()) node = machine.node;
    }
    if (own != nullptr ? kind_of(here, own->rows) : look_at(here, machine_name).kind) return here;
    std::vector<fs::path> places = in_and_beside(here);
    const auto others = std::ranges::stable_partition(
        places, [&](const fs::path& place) { return node.empty() || is_of_node(place, node); });
    Looks seen;
    fs::path found = first_calibration({places.begin(), others.begin()}, machine_name, seen);
    if (found.empty()) found = first_calibration(others, machine_name, seen);
    for (const fs::path& place : others)  // a damaged machine.yaml names no node
        if (std::ranges::find(seen, place, &Looks::value_type::first) == seen.end())
            seen.emplace_back(place, std::nullopt);
    name_newer(seen, here, found, over);
    return found;
}

fs::path find_sustained(const fs::path& folder, PassedOver* over)
{
    const fs::path here = fs::absolute(folder).lexically_normal();
    if (!fs::exists(here / "machine.yaml")) return {};
    const auto serves = [own = read_machine_of(here).name](const fs::path& place) {
        return read_machine_of(place).name == own && std::ranges::any_of(read_rows(place), [](const Measurement& row) {
                   return row.role != Role::step && row.sustained.seconds.median.value > 0;
               });
    };
    return newest_with(here, is_sustained, serves, over);
}

fs::path find_network(const fs::path& folder, std::vector<std::string> nodes, PassedOver* over)
{
    std::ranges::sort(nodes);
    const auto is_network = [](const PlanEntry& entry) { return entry.bench == "network"; };
    const auto serves = [&](const fs::path& place) {
        std::vector<std::string> of_ranks = rank_nodes(read_machine_of(place));
        std::ranges::sort(of_ranks);
        return of_ranks == nodes;
    };
    return newest_with(fs::absolute(folder).lexically_normal(), is_network, serves, over);
}

}  // namespace roof
