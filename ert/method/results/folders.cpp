// Chooses the results folder of a command, and finds the calibration for placing its rows.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <iterator>
#include <optional>
#include <span>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The folders in `here` and those beside it, the newest first. What cannot be read is named.
const std::vector<Neighbour>& in_and_beside(const fs::path& here, PassedOver& over)
{
    if (!over.seen.empty()) return over.seen;
    const fs::path parent = here.has_filename() ? here.parent_path() : here.parent_path().parent_path();
    over.seen = neighbours_in(here);
    std::ranges::move(neighbours_in(parent), std::back_inserter(over.seen));
    std::ranges::stable_sort(over.seen, std::greater{}, &Neighbour::time);
    std::vector<std::string> unread;
    for (const Neighbour& one : over.seen)
        if (!one.unread.empty()) unread.push_back(one.unread);
    const std::string more = unread.size() > 1 ? fmt::format("and {} more folders were", unread.size() - 1) : "was";
    if (!unread.empty()) over.odd.push_back(fmt::format("{}; it {} passed over", unread[0], more));
    return over.seen;
}

/// The first sentence on this file of the folder; empty if there is none.
std::string sentence_on(const fs::path& place, const char* file, const std::vector<std::string>& damage)
{
    const std::string begin = (place / file).string() + ": ";
    const auto found = std::ranges::find_if(damage, [&](const std::string& one) { return one.starts_with(begin); });
    return found == damage.end() ? "" : *found;
}

/// What checksums.csv says of machine.yaml; empty if it cannot be read.
std::string damage_of_machine(const fs::path& place)
try {
    return sentence_on(place, "machine.yaml", check_seal(place).damage);
} catch (const Error&) {
    return {};
}

/// Adds what is to be said of a folder that was not taken. `damage`: what is wrong with it; `why`: a reason that is no
/// damage. Both may be empty.
void pass_over(const fs::path& place, const std::string& damage, const std::string& why, PassedOver& over)
{
    if (!damage.empty())
        over.damage.push_back(damage + fmt::format("; '{}' was passed over", place.filename().string()));
    else if (const bool is_other = is_of_other_format(place); is_other || !why.empty())
        over.remarks.push_back(place.string() + " was passed over: " + (is_other ? "it is of another format" : why));
}

/// Whether the entry's rows are repeated for what lasts.
bool is_sustained(const PlanEntry& entry)
{
    return entry.stopping.sustain.value > 0;
}

/// Whether its time was over before all rows were measured.
bool has_ended(std::span<const Measurement> rows)
{
    return std::ranges::find(rows, Status::skipped, &Measurement::status) != rows.end();
}

bool is_complete(const fs::path& folder, const Scheduler& scheduler)
{
    if (!is_there(folder / measurements_file)) return false;
    try {
        const Results results = read_results(folder);
        return !results.damage.empty() || has_ended(results.rows) || scheduler.next(results.rows).empty();
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

/// `full` without a plan, and with one of another version. Empty for a plan that repeats rows for what lasts: its
/// ceilings are beside those of a calibration, and do not replace them.
std::optional<CalibrationKind> kind_by_plan(const fs::path& file, std::span<const Measurement> rows)
{
    try {
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

constexpr const char* no_rows = "it has no rows: its run was stopped before the first one, or still measures it";

/// What one reading of a folder shows.
struct Reading {
    std::optional<CalibrationKind> kind{};  ///< empty if it has no ceilings, or cannot be read
    int rank = 0;                           ///< of kinds: the full, then those that are quick or whose time was over
    std::string damage{};                   ///< of one that may have ceilings; empty for one that holds steps alone
    std::string why{};                      ///< a reason to pass it over that is no damage
};

Reading look_at(const fs::path& place)
{
    Reading look;
    try {
        if (is_of_other_format(place)) {
            look.damage =  // it may be the format that was changed
                sentence_on(place, "machine.yaml", check_seal(place).damage);
        } else if (is_there(place / measurements_file)) {
            const Results results = read_results(place);
            look.kind = kind_of(place, results.rows);
            const bool is_best = look.kind == CalibrationKind::full;
            look.rank = is_best ? 2 : look.kind == CalibrationKind::quick || has_ended(results.rows) ? 1 : 0;
            const bool has_only_steps =
                !results.rows.empty() &&
                std::ranges::all_of(results.rows, [](const Measurement& row) { return row.role == Role::step; });
            if (!results.damage.empty() &&
                !(has_only_steps && sentence_on(place, measurements_file, results.damage).empty()))
                look.damage = results.damage.front();
            if (results.rows.empty()) look.why = no_rows;
        } else {
            look.damage = lost_rows(place);
            look.why = no_rows;
        }
        if (look.kind == CalibrationKind::quick) look.why = "it is a quick calibration";
        if (look.kind == CalibrationKind::unfinished) look.why = "its calibration was stopped early";
    } catch (const std::exception& error) {
        look.damage = in_own_words(error);
    }
    return look;
}

/// Looks for the calibration of a machine among the folders that are beside each other.
class FolderSearch {
  public:
    /// `machine`: whose ceilings are looked for; null for any machine of `node`, or of any node if that is empty.
    FolderSearch(const Machine* machine, const std::string& node) : machine_(machine), node_(node) {}

    /// The newest of the best kind among `places`, the newest first; else that of another node. Empty if there is none.
    fs::path find(std::span<const Neighbour> places, const fs::path& here)
    {
        for (const Neighbour& place : places)
            if (place.is_results && !place.has_steps_alone() && place.place != here)
                seen_.push_back({place, {}, Whose::unknown});
        for (const Whose whose : {Whose::own, Whose::of_other_node}) {
            int best = -1;
            for (Seen& one : seen_) {
                if (one.whose == Whose::unknown) judge(one);
                if (one.whose != whose) continue;
                one.look = look_at(one.head.place);
                if (!one.look.kind || one.look.rank <= best) continue;
                found_ = &one;
                best = one.look.rank;
                if (one.look.kind == CalibrationKind::full) break;
            }
            if (found_ != nullptr) return found_->head.place;
        }
        return {};
    }

    /// Names what is newer than what was found, or all if nothing was; what is odd of those; and copies of what was
    /// found.
    void tell(PassedOver& over) const
    {
        for (const Seen& one : seen_) {
            if (&one == found_) break;
            pass_over(one.head.place, one.look.damage, one.look.why, over);
        }
        for (const Seen& one : seen_)
            if (!one.head.odd.empty() && one.whose <= Whose::own) over.odd.push_back(one.head.odd);
        if (found_ == nullptr) return;
        const std::string run = run_of(found_->head.place);
        for (const Seen& one : seen_)
            if (&one != found_ && !run.empty() && run_of(one.head.place) == run)
                over.remarks.push_back(fmt::format("'{}' and '{}' hold the same run: one is a copy",
                                                   found_->head.place.filename().string(),
                                                   one.head.place.filename().string()));
        if (machine_ == nullptr) return;
        const std::string states = differing_facts(state_of(found_->machine), state_of(*machine_));
        if (!states.empty()) over.remarks.push_back("the calibration is of this machine in another state: " + states);
    }

  private:
    enum class Whose { unknown, own, of_other_node, of_none };
    struct Seen {
        Neighbour head;
        Reading look{};
        Whose whose;
        Machine machine{};
    };

    /// Reads machine.yaml. The rows of another machine are not read.
    void judge(Seen& one) const
    {
        const fs::path& place = one.head.place;
        one.whose = Whose::own;
        try {
            one.machine = read_machine_of(place);
        } catch (const std::exception&) {
            return;  // look_at() says it
        }
        const bool is_other = machine_ != nullptr && machine_->name != one.machine.name;
        const std::string differs =
            machine_ == nullptr || is_other ? "" : differing_facts(identity_of(one.machine), identity_of(*machine_));
        const bool is_of_node = machine_ != nullptr
                                    ? is_same_host(one.machine, *machine_)
                                    : node_.empty() || one.machine.node.empty() || one.machine.node == node_;
        if (is_other || !differs.empty())
            one.whose = Whose::of_none;
        else if (!is_of_node)
            one.whose = Whose::of_other_node;
        if (!differs.empty()) one.look.why = "it is of another machine: " + differs;
        one.look.damage = damage_of_machine(place);
    }

    const Machine* machine_;
    const std::string& node_;
    std::vector<Seen> seen_;
    const Seen* found_ = nullptr;
};

/// The newest folder, in `here` or beside it, with rows of a plan that has such an entry, and for which `serves` is
/// true; empty without one. `word`: in every plan that has one.
fs::path newest_with(const fs::path& here, const char* word, const std::function<bool(const PlanEntry& entry)>& has,
                     const std::function<bool(const fs::path& place)>& serves, PassedOver* over)
{
    PassedOver untold;
    PassedOver& told = over == nullptr ? untold : *over;
    for (const Neighbour& one : in_and_beside(here, told)) {
        const bool may_have = one.is_results && (one.plan.find(word) != std::string::npos || !one.is_plan_whole);
        if (!may_have) continue;
        try {
            const Plan plan = parse_plan(one.plan, (one.place / "plan.yaml").string());
            if (!std::ranges::any_of(plan.entries, has)) continue;
            if (one.has_rows && serves(one.place)) return one.place;
        } catch (const std::exception&) {  // damaged, or of another format: as below
        }
        pass_over(one.place, look_at(one.place).damage, "", told);
    }
    return {};
}

/// How the folders of this node and version end.
std::string ending_of(const Machine& machine)
{
    const std::string revision = version_of(machine, "revision");
    return (machine.node.empty() ? "-" : "-" + machine.node + "-") + (revision.empty() ? "unknown" : revision);
}

bool is_closed(const fs::path& place)
{
    return ::access(place.c_str(), W_OK) != 0 && errno == EACCES;
}

/// The newest folder in `home` to which rows of this machine and plan may be appended, also by this user; empty if
/// there is none.
fs::path newest_of_plan(const fs::path& home, const Machine& machine, const std::string& plan_text)
{
    for (const Neighbour& one : neighbours_in(home)) {
        if (!one.place.filename().string().ends_with(ending_of(machine)) || one.plan != plan_text) continue;
        if (is_closed(one.place) || is_closed(one.place / ".lock")) continue;
        try {
            if (why_no_row_is_appended(one.place, plan_text, machine).empty()) return one.place;
        } catch (const Error&) {  // damaged: nothing is appended to it
        }
    }
    return {};
}

}  // namespace

fs::path choose_folder(const fs::path& root, const Machine& machine, const std::string& plan_text,
                       const Scheduler& scheduler, const std::set<fs::path>& in_use)
{
    const fs::path home = root / machine.name;
    const std::string ending = ending_of(machine);
    // Older runs are abandoned: reading all of them would take longer with each run.
    if (fs::path newest = newest_of_plan(home, machine, plan_text);
        !newest.empty() && !in_use.contains(newest) && !is_complete(newest, scheduler))
        return newest;
    const std::string stamp = fmt::format("{:%Y-%m-%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
    fs::path folder = home / (stamp + ending);
    for (int copy = 2; !make_new_folder(folder); ++copy) folder = home / fmt::format("{}.{}{}", stamp, copy, ending);
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

fs::path find_calibration(const fs::path& folder, std::string node, PassedOver* over, const Results* own,
                          const Machine* machine)
{
    const fs::path here = fs::absolute(folder).lexically_normal();
    std::optional<Machine> wanted = machine == nullptr ? std::nullopt : std::optional(*machine);
    if (is_there(here / "machine.yaml")) wanted = read_machine_of(here);
    if (wanted && !node.empty() && node != wanted->node) {
        wanted->node = node;
        wanted->host.clear();
    }
    if (own != nullptr ? kind_of(here, own->rows) : look_at(here).kind) return here;
    PassedOver untold;
    PassedOver& told = over == nullptr ? untold : *over;
    FolderSearch search(wanted ? &*wanted : nullptr, node);
    fs::path found = search.find(in_and_beside(here, told), here);
    search.tell(told);
    return found;
}

fs::path find_sustained(const fs::path& folder, PassedOver* over)
{
    const fs::path here = fs::absolute(folder).lexically_normal();
    if (!is_there(here / "machine.yaml")) return {};
    const auto serves = [own = read_machine_of(here)](const fs::path& place) {
        const Machine other = read_machine_of(place);
        return other.name == own.name && differing_facts(identity_of(other), identity_of(own)).empty() &&
               std::ranges::any_of(read_rows(place), [](const Measurement& row) {
                   return row.role != Role::step && row.sustained.seconds.median.value > 0;
               });
    };
    return newest_with(here, "sustain", is_sustained, serves, over);
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
    return newest_with(fs::absolute(folder).lexically_normal(), "network", is_network, serves, over);
}

}  // namespace roof
