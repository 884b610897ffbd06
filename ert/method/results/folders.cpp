// Chooses the results folder of a command, and finds the calibration for placing its rows.
#include "ert/base/error.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/bench/node.hpp"
#include "ert/method/results/results.hpp"

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

/// Whether the entry's rows are repeated for what lasts.
bool is_sustained(const PlanEntry& entry)
{
    return entry.stopping.sustain.value > 0;
}

/// The newest folder, in `here` or beside it, with rows of a plan that has such an entry, and for which `serves` is true; empty without one.
fs::path newest_with(const fs::path& here, const std::function<bool(const PlanEntry& entry)>& has,
                     const std::function<bool(const fs::path& place)>& serves)
{
    const std::vector<fs::path> places = in_and_beside(here);
    const auto found = std::ranges::find_if(places, [&](const fs::path& place) {
        if (!fs::exists(place / "plan.yaml") || !fs::exists(place / "measurements.csv")) return false;
        try {
            return std::ranges::any_of(load_plan(place / "plan.yaml").entries, has) && serves(place);
        } catch (const Error&) {
            return false;  // damaged, or of an older format
        }
    });
    return found == places.end() ? fs::path{} : *found;
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
bool is_finished(const Plan& plan, const std::vector<Measurement>& rows)
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
std::optional<CalibrationKind> kind_by_plan(const fs::path& file, const std::vector<Measurement>& rows)
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

/// What the folder is for a machine of this name, or for any; empty if it has no ceilings of bandwidth and of compute.
std::optional<CalibrationKind> kind_for(const fs::path& folder, const std::string& machine_name)
{
    if (!fs::exists(folder / "measurements.csv") || !fs::exists(folder / "machine.yaml")) return {};
    try {
        const std::vector<Measurement> rows = read_rows(folder);
        // Probes with a path that is no level, and tiles, show ceilings of their own.
        const auto measured = [&](Role role) {
            return std::ranges::any_of(rows, [&](const Measurement& row) {
                return row.role == role && row.status == Status::ok &&
                       level_traits(row.point.text_or("path", core_level)).kind != LevelKind::path &&
                       row.point.text_or("isa", "") != "tiles";
            });
        };
        if (!measured(Role::bandwidth) || !measured(Role::compute)) return {};
        if (!machine_name.empty() && read_machine_of(folder).name != machine_name) return {};
        return kind_by_plan(folder / "plan.yaml", rows);
    } catch (const Error&) {
        return {};  // damaged, or of an older format
    }
}

/// The first of the best kind; empty if there is none.
fs::path first_calibration(std::span<const fs::path> places, const std::string& machine_name)
{
    fs::path best;
    std::optional<CalibrationKind> kind;
    for (const fs::path& place : places) {
        const std::optional<CalibrationKind> here = kind_for(place, machine_name);
        if (!here || (kind && *here <= *kind)) continue;
        best = place;
        kind = here;
        if (*kind == CalibrationKind::full) break;
    }
    return best;
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

CalibrationKind calibration_kind(const fs::path& folder)
{
    return kind_for(folder, "").value_or(CalibrationKind::full);
}

fs::path find_calibration(const fs::path& folder, std::string node)
{
    fs::path here = fs::absolute(folder).lexically_normal();
    std::string machine_name;
    if (fs::exists(here / "machine.yaml")) {
        const Machine machine = read_machine_of(here);
        machine_name = machine.name;
        if (node.empty()) node = machine.node;
    }
    if (kind_for(here, machine_name)) return here;
    std::vector<fs::path> places = in_and_beside(here);
    const auto others = std::ranges::stable_partition(
        places, [&](const fs::path& place) { return node.empty() || is_of_node(place, node); });
    const fs::path own = first_calibration({places.begin(), others.begin()}, machine_name);
    return own.empty() ? first_calibration(others, machine_name) : own;
}

fs::path find_sustained(const fs::path& folder)
{
    const fs::path here = fs::absolute(folder).lexically_normal();
    if (!fs::exists(here / "machine.yaml")) return {};
    return newest_with(here, is_sustained, [own = read_machine_of(here).name](const fs::path& place) {
        return read_machine_of(place).name == own && std::ranges::any_of(read_rows(place), [](const Measurement& row) {
                   return row.role != Role::step && row.sustained.seconds.median.value > 0;
               });
    });
}

fs::path find_network(const fs::path& folder, std::vector<std::string> nodes)
{
    std::ranges::sort(nodes);
    const auto is_network = [](const PlanEntry& entry) { return entry.bench == "network"; };
    return newest_with(fs::absolute(folder).lexically_normal(), is_network, [&](const fs::path& place) {
        std::vector<std::string> of_ranks = rank_nodes(read_machine_of(place));
        std::ranges::sort(of_ranks);
        return of_ranks == nodes;
    });
}

}  // namespace roof
