// Expands a plan's entries to every combination of their axes and checks them against the registry.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace roof {
namespace {

bool holds(const std::vector<std::string>& words, const std::string& word)
{
    return std::ranges::find(words, word) != words.end();
}

/// "cpu" or "gpu:0" -> "cpu", "gpu".
std::string kind_of(const std::string& device, const std::string& where)
{
    std::string kind = kind_of_device(device);
    if (device != "cpu" && kind != "gpu") {
        const std::vector<std::string> legal{"cpu", "gpu:0", "gpu:1", "…; gpu:0,1 for a rank on each"};
        throw InputError(where + ": device: " + unknown_word("device", device, legal));
    }
    return kind;
}

/// `what`, and why: the absent part of this name, else the absent parts that add the bench (those of any, for no name),
/// and what the machine says of a capability with the name of the part.
std::string why_missing(const BenchRegistry& registry, const std::string& what, const std::string& part,
                        const std::string& bench = {})
{
    const std::vector<AbsentPart>& absent = registry.absent();
    const bool is_absent = std::ranges::find(absent, part, &AbsentPart::name) != absent.end();
    std::string reason = what;
    for (const AbsentPart& one : absent) {
        const bool adds_bench = !is_absent && !bench.empty() && holds(split(one.benches, ' '), bench);
        if (part.empty() || one.name == part || adds_bench)
            reason += "; part " + one.name + " is absent: " + one.reason;
    }
    for (const Capability& capability : registry.machine().capabilities) {
        if (capability.name == part && !capability.present) reason += "; " + capability.reason;
    }
    return reason;
}

/// A device group has a rank on each of its devices, on each machine that takes part.
bool serves_group(const std::vector<std::string>& ranks, std::size_t devices)
{
    const auto number = ranks.size() == 1 ? parse_number<std::size_t>(ranks.front()) : std::nullopt;
    return number && *number > 0 && *number % devices == 0;
}

void check_ranks(const std::vector<std::string>& ranks, const std::string& device, const std::string& where)
{
    const std::size_t devices = devices_in(device).size();
    if (devices < 2 || serves_group(ranks, devices)) return;
    throw InputError(where + ": ranks: " + device + " has a rank on each device: " + std::to_string(devices) +
                     ", or as many on each of several machines");
}

/// "file:line" of the axis in the plan.
std::string where_of(const PlanEntry& entry, const std::string& axis)
{
    const auto line = entry.axis_where.find(axis);
    return line == entry.axis_where.end() ? entry.where : line->second;
}

/// The bench's axes. If this build lacks the bench: those that the entry names, with any values.
std::vector<Axis> axes_of(const PlanEntry& entry, const Bench* bench, const Machine& machine)
{
    std::vector<Axis> axes = bench == nullptr ? std::vector<Axis>{} : bench->axes(machine);
    const std::vector<std::string> legal = names_in(axes);
    for (const auto& [name, values] : entry.axes) {
        if (bench != nullptr && !holds(legal, name))
            throw InputError(where_of(entry, name) + ": " + unknown_word("axis of bench " + entry.bench, name, legal));
    }
    for (const std::string& name : axis_names())
        if (bench == nullptr && entry.axes.contains(name)) axes.emplace_back().name = name;
    return axes;
}

using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// The values of each axis: those of `settings`, of the entry, or the defaults. Adds the settings that apply to `used`.
Axes values_of(const std::vector<Axis>& declared, const PlanEntry& entry, const Settings& settings,
               std::set<std::string>& used)
{
    const std::size_t devices = devices_in(entry.device).size();
    Axes axes;
    auto column = axis_names().begin();
    for (const Axis& axis : declared) {
        column = std::find(column, axis_names().end(), axis.name);  // a row that is read has the columns' order
        if (column == axis_names().end())
            throw std::logic_error("axis " + axis.name + " of bench " + entry.bench + " has no column in its order");
        std::string where = where_of(entry, axis.name);
        std::vector<std::string> values = axis.defaults;
        if (const auto set = settings.find(axis.name); set != settings.end()) {
            values = set->second;
            where = "--set";
            used.insert(axis.name);
        } else if (const auto given = entry.axes.find(axis.name); given != entry.axes.end()) {
            values = given->second;
        } else if (axis.name == "ranks" && devices > 1 && !serves_group(axis.defaults, devices)) {
            values = {std::to_string(devices)};
        } else if (axis.otherwise) {
            values.clear();
        } else if (axis.optional && (axis.name != "ranks" || devices < 2)) {
            continue;
        }
        for (std::string& value : values) value = checked_value(axis, value, where);
        if (axis.name == "ranks") check_ranks(values, entry.device, where);
        axes.emplace_back(axis.name, std::move(values));
    }
    return axes;
}

/// Throws InputError if the plan's entries so far have too many combinations.
void check_number(const Axes& axes, const Plan& plan, const std::string& where, double& so_far)
{
    constexpr double most_items = 100'000;
    double here = 1;
    for (const auto& [axis, values] : axes) here *= static_cast<double>(std::max<std::size_t>(1, values.size()));
    so_far += here * plan.rounds;
    if (so_far > most_items)
        throw InputError(fmt::format(
            "{}: the plan has {:.0f} items up to this entry, {} rounds included; at most {:.0f} are allowed", where,
            so_far, plan.rounds, most_items));
}

/// Every combination. The last axis varies fastest. An axis without values has that which its declaration finds for the
/// point, if any.
std::vector<Point> combinations(const Axes& axes, const std::vector<Axis>& declared)
{
    std::vector<Point> points(1);
    for (const auto& [axis, values] : axes) {
        std::vector<Point> longer;
        for (const Point& point : points) {
            for (const std::string& value : values) longer.emplace_back(point).set(axis, value);
            if (!values.empty()) continue;
            const std::string found = std::ranges::find(declared, axis, &Axis::name)->otherwise(point);
            Point& same = longer.emplace_back(point);
            if (!found.empty()) same.set(axis, found);
        }
        points = std::move(longer);
    }
    return points;
}

/// Repeats the list for each of the plan's rounds. With several rounds, each round is a separate row.
std::vector<Item> in_rounds(const std::vector<Item>& items, const Plan& plan)
{
    if (plan.max_rounds == 1) return items;
    std::vector<Item> rounds;
    for (int round = 1; round <= plan.rounds; ++round) {
        for (Item item : items) {
            if (item.bench == nullptr && round > 1) continue;  // the result would be the same
            item.point.set("round", std::to_string(round));
            rounds.push_back(std::move(item));
        }
    }
    return rounds;
}

/// An entry's item before its point is known.
Item item_of(const PlanEntry& entry, const std::string& kind, const Bench* bench, const std::vector<Axis>& axes,
             const BenchRegistry& registry)
{
    const Bench* const of_other_kind =
        bench == nullptr ? registry.find(entry.bench, kind == "cpu" ? "gpu" : "cpu") : bench;
    const Role role = of_other_kind == nullptr ? Role::step : of_other_kind->role();
    if (entry.profile != Profiling::off) registry.profiler(kind);  // now, so that the machine's description includes it
    const std::vector<std::string> devices = devices_in(entry.device);
    const bool has_device = std::ranges::all_of(
        devices, [&](const std::string& name) { return registry.machine().find_device(name) != nullptr; });
    Item item{bench, entry.bench, role, {}, entry.device, entry.stopping, {}, entry.where, entry.profile};
    if (bench == nullptr)
        item.missing = why_missing(registry, "this build cannot run bench '" + entry.bench + "' on a " + kind,
                                   kind == "gpu" ? "gpu" : "", entry.bench);
    else if (!has_device)
        item.missing = why_missing(registry, "this machine has no device '" + entry.device + "'", kind);
    else if (devices.size() > 1 && std::ranges::find(axes, "ranks", &Axis::name) == axes.end())
        item.missing = "bench '" + entry.bench + "' runs on one device, not on " + entry.device;
    if (!item.missing.empty()) item.bench = nullptr;
    return item;
}

/// Whether the point's working set is a keyword of that axis.
bool has_keyword(const Point& point, const std::vector<Axis>& axes)
{
    const auto axis = std::ranges::find(axes, "working_set", &Axis::name);
    return axis != axes.end() && point.has("working_set") && holds(axis->keywords, point.text("working_set"));
}

}  // namespace

std::string checked_value(const Axis& axis, const std::string& value, const std::string& where)
{
    if (!axis.allowed.empty()) {
        if (axis.takes_map && value.starts_with('{')) return value;
        if (std::ranges::any_of(axis.file_endings, [&](auto ending) { return value.ends_with(ending); })) return value;
        if (holds(axis.allowed, value)) return value;
        try {
            if (axis.canonical) return axis.canonical(value);
        } catch (const InputError& error) {
            throw InputError(where + ": " + error.what());
        }
        throw InputError(where + ": " + unknown_word(axis.name, value, axis.allowed));
    }
    if (!axis.numeric || holds(axis.keywords, value)) return value;
    long long number = 0;
    const std::errc error = std::from_chars(value.data(), value.data() + value.size(), number).ec;
    const bool is_canonical =
        error == std::errc{} && std::to_string(number) == value;  // "01" would be another row than "1"
    if (is_canonical && number >= axis.min && number <= axis.max) return value;
    const std::string words = axis.keywords.empty() ? "" : ", or " + join(axis.keywords, ", ");
    throw InputError(fmt::format("{}: {}: '{}' is not a legal value; legal values: whole numbers from {} to {}{}",
                                 where, axis.name, printable(value), axis.min, axis.max, words));
}

std::vector<Item> matching(std::vector<Item> items, const std::string& only)
{
    const auto exact = std::ranges::find_if(items, [&](const Item& item) { return item.id() == only; });
    if (exact != items.end()) return {*exact};
    std::erase_if(items, [&](const Item& item) { return !item.is_open && !glob_match("*" + only + "*", item.id()); });
    return items;
}

std::vector<Item> expand(const Plan& plan, const BenchRegistry& registry, const Settings& settings,
                         const std::string& only)
{
    std::vector<Item> items;
    std::set<std::string> seen;
    std::set<std::string> used;
    double number = 0;
    for (const PlanEntry& entry : plan.entries) {
        const std::string kind = kind_of(entry.device, entry.where);
        const Bench* const bench = registry.find(entry.bench, kind);
        if (bench == nullptr && !holds(registry.bench_names(), entry.bench))
            throw InputError(entry.where + ": " + unknown_word("bench", entry.bench, registry.bench_names()));
        const std::vector<Axis> declared = axes_of(entry, bench, registry.machine());
        Item item = item_of(entry, kind, bench, declared, registry);
        const Axes axes = values_of(declared, entry, settings, used);
        check_number(axes, plan, entry.where, number);
        for (Point& point : combinations(axes, declared)) {
            item.point = std::move(point);
            item.is_open = has_keyword(item.point, declared);
            if (seen.insert(item.id()).second) items.push_back(item);
        }
    }
    for (const auto& [axis, values] : settings)
        if (!used.contains(axis)) throw InputError("--set " + axis + ": " + unknown_word("axis", axis, axis_names()));
    std::vector<Item> chosen = matching(in_rounds(items, plan), only);
    if (!std::ranges::all_of(chosen, &Item::is_open)) return chosen;
    if (only.empty()) throw InputError("the plan has no items");
    std::vector<std::string> benches;
    for (const Item& item : items)
        if (!holds(benches, item.bench_name)) benches.push_back(item.bench_name);
    throw InputError("--only matches none of the plan's items: " +
                     unknown_word("part of an item", only.substr(0, only.find(' ')), benches));
}

void check_items(const std::vector<Item>& items, const BenchRegistry& registry)
{
    for (const Item& item : items) {
        if (item.bench == nullptr) continue;
        try {
            item.bench->unsupported_reason(item.point, registry.machine(), device_for(registry.machine(), item.device));
        } catch (const InputError& error) {
            throw InputError(item.where + ": " + error.what());
        }
    }
}

}  // namespace roof
