#include "analysis/roofline/roofs.hpp"

#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace roof::analysis {

namespace {

using Names = std::vector<std::string>;

void add_once(Names& names, const std::string& name)
{
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Nearest to the core first: those of the sweep, then those that only ceilings name.
Names level_names(const Ceilings& ceilings, const std::string& device)
{
    Names names;
    for (const auto* const levels : {&ceilings.levels, &ceilings.levels_by_threads})
        for (const MeasuredLevel& level : *levels)
            if (level.device == device) add_once(names, level.name);
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device && ceiling.kind == Role::bandwidth) add_once(names, ceiling.level);
    std::ranges::stable_sort(names, {}, [](const std::string& name) {
        const LevelTraits traits = level_traits(name);
        return std::pair(traits.kind == LevelKind::path, traits.kind == LevelKind::memory ? 99 : traits.number);
    });
    return names;
}

const Ceiling* find(const std::vector<const Ceiling*>& roofs, const std::string& name, std::string Ceiling::*field)
{
    const auto found = std::ranges::find(roofs, name, field);
    return found == roofs.end() ? nullptr : *found;
}

/// ": a core was shared 70% of the time"; empty below a thousandth of the time, which explains nothing.
std::string most_frequent_disturbance(std::span<const Measurement> rows)
{
    double all = 0;
    std::map<std::string, double> seconds;
    for (const Measurement& row : rows)
        for (const Sample& sample : row.samples) {
            all += sample.seconds.value;
            if (!sample.disturbance.empty()) seconds[sample.disturbance] += sample.seconds.value;
        }
    const auto most = std::ranges::max_element(seconds, {}, [](const auto& one) { return one.second; });
    if (most == seconds.end() || most->second < 0.001 * all) return {};
    return fmt::format(": {} {} of the time", printable(most->first), percent(most->second / all));
}

}  // namespace

const std::string& level_or_precision(const Ceiling& roof)
{
    return roof.kind == Role::bandwidth ? roof.level : roof.precision;
}

std::string rate_text(double rate, std::string_view unit, bool is_lower_bound)
{
    return (is_lower_bound ? "≥ " : "") + format_si(rate, unit);
}

std::string rate_text(const Ceiling& roof)
{
    return rate_text(roof.rate.median.value, roof.unit(), roof.steadiness == Steadiness::at_least);
}

std::string share_of_roof(double share, bool is_lower_bound)
{
    return (is_lower_bound ? "≤ " : "") + percent(share);
}

const Ceiling* Roofs::level(const std::string& name) const
{
    return find(levels, name, &Ceiling::level);
}

const Ceiling* Roofs::precision(const std::string& name) const
{
    return find(compute, name, &Ceiling::precision);
}

Roofs roofs_of(const Ceilings& ceilings, const std::string& device, int threads)
{
    const auto is_measured = [&](const Ceiling& c) { return c.device == device && c.threads == threads; };
    const bool has_count = std::ranges::any_of(ceilings.all, is_measured);
    Roofs roofs{device, has_count ? threads : ceilings.most_threads(device), {}, {}, {}};
    const auto add = [&](Role kind, const std::string& name, std::vector<const Ceiling*>& to) {
        const std::optional<Ceiling> roof = ceilings.roof(kind, device, name, roofs.threads);
        if (roof) to.push_back(roofs.made.emplace_back(std::make_shared<const Ceiling>(*roof)).get());
        return roof;
    };
    for (const std::string& level : level_names(ceilings, device)) {
        if (level_traits(level).kind != LevelKind::path)
            add(Role::bandwidth, level, roofs.levels);
        else if (const Ceiling* const path = ceilings.bandwidth(device, level, roofs.threads))
            roofs.levels.push_back(path);  // of the network or a link: no rate of the device's threads
    }
    Names precisions;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device && ceiling.kind == Role::compute) add_once(precisions, ceiling.precision);
    for (const std::string& precision : precisions) {
        const std::optional<Ceiling> roof = add(Role::compute, precision, roofs.compute);
        const Ceiling* const mix = ceilings.compute(device, precision, roofs.threads);
        if (mix && !(roof && roof->rate.median >= mix->rate.median)) roofs.mixes.push_back(mix);
    }
    std::stable_sort(roofs.compute.begin(), roofs.compute.end(),
                     [](const Ceiling* a, const Ceiling* b) { return a->rate.median > b->rate.median; });
    return roofs;
}

const Ceiling* fastest(const Ceilings& ceilings, const std::function<bool(const Ceiling&)>& is_chosen)
{
    const Ceiling* best = nullptr;
    for (const Ceiling& ceiling : ceilings.all)
        if (is_chosen(ceiling) && (best == nullptr || best->rate.median < ceiling.rate.median)) best = &ceiling;
    return best;
}

const Ceiling* fastest_by(const Ceilings& ceilings, const std::string& device, int threads, std::string_view of,
                          std::string_view operation, std::string_view isa)
{
    return fastest(ceilings, [&](const Ceiling& c) {
        return c.device == device && c.threads == threads && level_or_precision(c) == of && c.operation == operation &&
               (isa.empty() || c.isa == isa) && c.condition.empty();
    });
}

std::vector<std::string> devices_of(const Ceilings& ceilings)
{
    Names devices;
    for (const Ceiling& ceiling : ceilings.all) add_once(devices, ceiling.device);
    return devices;
}

std::vector<std::string> missing_roofs(const Ceilings& ceilings, std::span<const Measurement> rows)
{
    std::map<std::string, std::set<std::pair<Role, std::string>>> wanted;  // by device: levels and precisions
    std::map<std::string, std::set<int>> threads;
    std::set<std::tuple<std::string, Role, std::string, int>> measured;
    for (const Ceiling& c : ceilings.all) {
        const bool is_path = level_traits(c.level).kind == LevelKind::path;
        if (c.kind == Role::latency || is_path || !c.condition.empty()) continue;
        if (c.kind == Role::compute && !is_multiply_add(c.operation)) continue;
        wanted[c.device].emplace(c.kind, level_or_precision(c));
        threads[c.device].insert(c.threads);
        measured.emplace(c.device, c.kind, level_or_precision(c), c.threads);
    }
    for (const Unmeasured& one : ceilings.unmeasured) {
        wanted[one.device].emplace(Role::compute, one.precision);
        threads[one.device].insert(one.threads);
    }
    for (const Measurement& row : rows) {
        if (row.bench != "bandwidth" || row.point.has("path")) continue;
        if (row.status != Status::ok && row.status != Status::skipped) continue;
        wanted[row.device].emplace(Role::bandwidth, memory_level);
        threads[row.device].insert(std::max(1, threads_of(row)));
    }
    std::vector<std::string> missing;
    for (const auto& [device, names] : wanted)
        for (const auto& [kind, name] : names)
            for (const int count : threads[device])
                if (!measured.contains({device, kind, name, count}))
                    missing.push_back(
                        fmt::format("{} {} {}", name, device == "cpu" ? "with" : "on", processors_text(device, count)));
    return missing;
}

std::string calibration_quality(const Ceilings& of, std::span<const Measurement> rows)
{
    const std::vector<Ceiling>& ceilings = of.all;
    const auto skipped = std::ranges::count(rows, Status::skipped, &Measurement::status);
    const std::vector<std::string> missing = missing_roofs(of, rows);
    const std::string left =
        (missing.empty() ? "" : fmt::format(" Not measured: the roof of {}.", join(missing, ", "))) +
        (skipped == 0
             ? ""
             : fmt::format(" {} of {} rows {} not measured.", skipped, rows.size(), skipped == 1 ? "was" : "were"));
    if (ceilings.empty()) return missing.empty() ? "" : left.substr(1);
    const auto bounds = std::ranges::count(ceilings, Steadiness::at_least, &Ceiling::steadiness);
    const auto once = std::ranges::count(ceilings, Steadiness::seen_once, &Ceiling::steadiness);
    const auto unsteady =
        std::ssize(ceilings) - bounds - once - std::ranges::count(ceilings, Steadiness::steady, &Ceiling::steadiness);
    std::vector<std::string> states;
    const auto add = [&](auto count, std::string_view one, std::string_view many) {
        if (count > 0)
            states.push_back(fmt::format("{}{} {}", count,
                                         states.empty() ? fmt::format(" of {} ceilings", ceilings.size()) : "",
                                         count == 1 ? one : many));
    };
    add(bounds, "is a lower bound", "are lower bounds");
    add(unsteady, "is unsteady", "are unsteady");
    add(once, "was seen once", "were seen once");
    if (states.empty())
        return fmt::format(
            "{} steady.{}",
            ceilings.size() == 1 ? "The one ceiling is" : fmt::format("All {} ceilings are", ceilings.size()), left);
    const auto most =
        std::ranges::max_element(ceilings, {}, [](const Ceiling& c) { return c.samples.size(); })->samples.size();
    const bool lacks_rounds = bounds > 0 && most > 0 && std::cmp_less(most, min_rounds);
    const std::string why =
        lacks_rounds ? ": a ceiling needs three rounds (`rounds: 3` in the plan)" : most_frequent_disturbance(rows);
    const std::string again =
        once == 0 ? "" : " Seen once: a calibration ten minutes later, or a run, shows what is steady.";
    return join(states, ", ") + why + "." + again + left;
}

namespace {

/// Whether the probe repeated the point of the ceiling; in memory any set that it alone serves will do.
bool is_of(const Measurement& probe, const Ceiling& c)
{
    if (probe.role != c.kind || c.level != memory_level || !probe.point.has("working_set"))
        return probe.role == c.kind && probe.id() == c.point;
    return probe.point.number("working_set") >= c.working_set_low.value &&
           id_without(probe.id(), "working_set") == id_without(c.point, "working_set");
}

/// Windows that differ, or arithmetic that lost more than its clock did, show other programs, not what lasts.
bool is_undisturbed(const Measurement& probe, const Ceiling& c)
{
    constexpr double tolerance = 0.03;
    const SustainedLaunches& all = probe.sustained;
    if (all.seconds.relative_half_width() > tolerance) return false;
    const bool has_clocks = c.clock.median.value > 0 && all.clock.value > 0;
    if (c.kind != Role::compute || c.device != "cpu" || !has_clocks) return true;
    return probe.work.flops.value / all.seconds.median.value / all.clock.value >=
           (1 - tolerance) * c.rate.median.value / c.clock.median.value;
}

}  // namespace

Ceilings with_lasting(Ceilings bursts, std::span<const Measurement> probes)
{
    const auto key = [](const Ceiling& c) { return std::tuple(c.device, c.kind, level_or_precision(c), c.threads); };
    std::set<std::tuple<std::string, Role, std::string, int>> repeated;
    for (Ceiling& c : bursts.all) {
        const auto probe = std::ranges::find_if(
            probes, [&](const Measurement& one) { return is_of(one, c) && is_undisturbed(one, c); });
        if (probe == probes.end()) continue;
        const Work& work = probe->work;
        const double done = c.kind == Role::compute ? work.flops.value : work.compulsory.value;
        c.rate = Quantity<0, 0, 0>{done} / probe->sustained.seconds;
        const auto windows = std::ranges::count(probe->samples, std::string("whole"), &Sample::window);
        c.rate.n = std::max({c.rate.n, static_cast<int>(windows), 1});
        c.steadiness = Steadiness::seen_once;
        c.lasting = true;
        c.rounds = c.times = 0;
        c.clock = {probe->sustained.clock, probe->sustained.clock, probe->sustained.clock, 1, 0};
        c.per_clock = {};
        c.change.clear();
        repeated.insert(key(c));
    }
    if (repeated.empty()) return {};
    std::erase_if(bursts.all, [&](const Ceiling& c) {
        return !c.lasting && c.condition.empty() && c.kind != Role::latency && repeated.contains(key(c));
    });
    return bursts;
}

bool lasts(const Measurement& row)
{
    constexpr double seconds = 2;
    return row.sustained.seconds.median.value > 0 || row.seconds.n * row.seconds.median.value >= seconds;
}

bool has_lasting(const Roofs& roofs, const Ceiling* compute)
{
    return (compute != nullptr && compute->lasting) || std::ranges::any_of(roofs.levels, &Ceiling::lasting);
}

}  // namespace roof::analysis
