// Expands a plan's entries to every combination of their axes and checks them against the registry.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/device_group.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"
#include "ert/method/plan/resolved_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace roof {
namespace {

void check_bench(const PlanEntry& entry, const BenchRegistry& registry)
{
    const std::vector<std::string> names = registry.bench_names();
    if (std::ranges::find(names, entry.bench) != names.end()) return;
    throw InputError(entry.where + ": " + unknown_word("bench", entry.bench, names));
}

/// "cpu" or "gpu:0" -> "cpu", "gpu".
std::string kind_of(const std::string& device, const std::string& where)
{
    const std::string kind = device.substr(0, device.find(':'));
    if (device != "cpu" && kind != "gpu") {
        throw InputError(where + ": device: unknown device '" + printable(device) +
                         "'; legal values: cpu, gpu:0, gpu:1, …; gpu:0,1 for a rank on each");
    }
    return kind;
}

std::string why_missing(const BenchRegistry& registry, const std::string& what, const std::string& part)
{
    std::string reason = what;
    for (const AbsentPart& absent : registry.absent()) {
        if (part.empty() || absent.name == part) reason += "; part " + absent.name + " is absent: " + absent.reason;
    }
    for (const Capability& capability : registry.machine().capabilities) {
        if (capability.name == part && !capability.present) reason += "; " + capability.reason;
    }
    return reason;
}

/// A device group needs a rank on each of its devices.
void check_ranks(const std::vector<std::string>& ranks, const std::string& device, const std::string& where)
{
    const std::size_t devices = devices_in(device).size();
    if (devices < 2 || ranks == std::vector<std::string>{std::to_string(devices)}) return;
    throw InputError(where + ": ranks: " + device + " has a rank on each device: " + std::to_string(devices));
}

/// The entry's axes in the bench's order, with defaults for missing axes.
Axes axes_of(const PlanEntry& entry, const Bench& bench, const Machine& machine, const Settings& settings)
{
    const std::vector<Axis> declared = bench.axes(machine);
    std::vector<std::string> legal;
    for (const Axis& axis : declared) legal.push_back(axis.name);
    for (const auto& [key, values] : entry.axes) {
        if (std::ranges::find(legal, key) != legal.end()) continue;
        const auto line = entry.axis_where.find(key);
        throw InputError((line == entry.axis_where.end() ? entry.where : line->second) + ": " +
                         unknown_word("axis of bench " + entry.bench, key, legal));
    }
    Axes axes;
    auto column = axis_names().begin();
    for (const Axis& axis : declared) {
        column = std::find(column, axis_names().end(), axis.name);  // a row that is read has the columns' order
        if (column == axis_names().end()) {
            throw std::logic_error("axis " + axis.name + " of bench " + entry.bench + " has no column in its order");
        }
        std::string where = entry.where;
        std::vector<std::string> values = axis.defaults;
        if (const auto set = settings.find(axis.name); set != settings.end()) {
            values = set->second;
            where = "--set";
        } else if (const auto given = entry.axes.find(axis.name); given != entry.axes.end()) {
            values = given->second;
            if (const auto line = entry.axis_where.find(axis.name); line != entry.axis_where.end())
                where = line->second;
        } else if (axis.name == "ranks" && devices_in(entry.device).size() > 1) {
            values = {std::to_string(devices_in(entry.device).size())};
        } else if (axis.optional) {
            continue;
        }
        for (const std::string& value : values) check_value(axis, value, where);
        if (axis.name == "ranks") check_ranks(values, entry.device, where);
        axes.emplace_back(axis.name, std::move(values));
    }
    return axes;
}

/// The axes of an entry whose bench is missing in this build: unchecked, in the order of the columns.
Axes axes_as_written(const PlanEntry& entry, const Settings& settings)
{
    Axes axes;
    for (const std::string& name : axis_names()) {
        const auto given = entry.axes.find(name);
        if (given == entry.axes.end()) continue;
        const auto set = settings.find(name);
        axes.emplace_back(name, set == settings.end() ? given->second : set->second);
    }
    return axes;
}

/// Throws InputError if the plan's entries so far have too many combinations.
void check_number(const Axes& axes, const Plan& plan, const std::string& where, double& so_far)
{
    constexpr double most_items = 100'000;
    double here = 1;
    for (const auto& [axis, values] : axes) here *= static_cast<double>(values.size());
    so_far += here * plan.rounds;
    if (so_far > most_items)
        throw InputError(fmt::format(
            "{}: the plan has {:.0f} items up to this entry, {} rounds included; at most {:.0f} are allowed", where,
            so_far, plan.rounds, most_items));
}

/// Calls `take` with every combination. The last axis varies fastest.
template <class Take>
void combine(const Axes& axes, std::size_t depth, Point& point, const Take& take)
{
    if (depth == axes.size()) {
        take(point);
        return;
    }
    for (const std::string& value : axes[depth].second) {
        point.set(axes[depth].first, value);
        combine(axes, depth + 1, point, take);
    }
}

void check_settings(const Plan& plan, const BenchRegistry& registry, const Settings& settings)
{
    for (const auto& [key, values] : settings) {
        const bool used = std::ranges::any_of(plan.entries, [&, &name = key](const PlanEntry& entry) {
            if (entry.axes.contains(name)) return true;
            const Bench* bench = registry.find(entry.bench, kind_of(entry.device, entry.where));
            if (bench == nullptr) return false;
            const std::vector<Axis> axes = bench->axes(registry.machine());
            return std::ranges::any_of(axes, [&](const Axis& axis) { return axis.name == name; });
        });
        if (!used) throw InputError("--set " + key + ": " + unknown_word("axis", key, axis_names()));
    }
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

bool has_axis(const Bench& bench, const std::string& name, const Machine& machine)
{
    const std::vector<Axis> axes = bench.axes(machine);
    return std::ranges::find(axes, name, &Axis::name) != axes.end();
}

/// An entry's item before its point is known.
Item item_of(const PlanEntry& entry, const BenchRegistry& registry)
{
    const std::string kind = kind_of(entry.device, entry.where);
    const Bench* bench = registry.find(entry.bench, kind);
    if (bench == nullptr) check_bench(entry, registry);
    if (entry.profile) registry.profiler(kind);  // now, so that the machine's description includes it
    const std::vector<std::string> devices = devices_in(entry.device);
    const bool has_device = std::ranges::all_of(
        devices, [&](const std::string& name) { return registry.machine().find_device(name) != nullptr; });
    Item item{bench, entry.bench, {}, entry.device, entry.stopping, {}, entry.where, entry.profile};
    if (bench == nullptr) {
        item.missing = why_missing(registry, "this build cannot run bench '" + entry.bench + "' on a " + kind,
                                   kind == "gpu" ? "gpu" : "");
    } else if (!has_device) {
        item.missing = why_missing(registry, "this machine has no device '" + entry.device + "'", kind);
        item.bench = nullptr;
    } else if (devices.size() > 1 && !has_axis(*bench, "ranks", registry.machine())) {
        item.missing = "bench '" + entry.bench + "' runs on one device, not on " + entry.device;
        item.bench = nullptr;
    }
    return item;
}

/// If `sizes` is null: the entries without keywords. Otherwise the entries with keywords, resolved.
std::vector<Item> combinations(const Plan& plan, const BenchRegistry& registry, const Settings& settings,
                               const ResolvedSizes* sizes)
{
    std::vector<Item> items;
    std::set<std::string> seen;
    double number = 0;
    const auto take = [&](const Item& item) {
        if (seen.insert(item.id()).second) items.push_back(item);
    };
    for (const PlanEntry& entry : plan.entries) {
        Item item = item_of(entry, registry);
        const Bench* const bench = registry.find(entry.bench, kind_of(entry.device, entry.where));
        const Axes axes =
            bench == nullptr ? axes_as_written(entry, settings) : axes_of(entry, *bench, registry.machine(), settings);
        if ((bench != nullptr && has_keyword(axes, *bench, registry)) != (sizes != nullptr)) continue;
        check_number(axes, plan, entry.where, number);
        Point point;
        combine(axes, 0, point, [&](const Point& complete) {
            item.point = complete;
            if (sizes == nullptr) return take(item);
            for (const std::string& size : sizes_for(item, *sizes)) {
                item.point.set("working_set", size);
                take(item);
            }
        });
    }
    return in_rounds(items, plan);
}

void keep_only(std::vector<Item>& items, const std::string& only)
{
    if (only.empty()) return;
    // A whole id selects only that item, not others that contain it.
    const auto exact = std::ranges::find_if(items, [&](const Item& item) { return item.id() == only; });
    if (exact != items.end())
        items = std::vector<Item>{*exact};
    else
        std::erase_if(items, [&](const Item& item) { return !glob_match("*" + only + "*", item.id()); });
}

}  // namespace

std::string Item::id() const
{
    return bench_name + " " + device + " " + point.str();
}

void check_value(const Axis& axis, const std::string& value, const std::string& where)
{
    if (!axis.allowed.empty()) {
        if (axis.takes_map && value.starts_with('{')) return;
        if (!axis.file_ending.empty() && value.ends_with(axis.file_ending)) return;
        if (std::ranges::find(axis.allowed, value) == axis.allowed.end()) {
            throw InputError(where + ": " + unknown_word(axis.name, value, axis.allowed));
        }
        return;
    }
    if (!axis.numeric || std::ranges::find(axis.keywords, value) != axis.keywords.end()) return;
    long long number = 0;
    const std::errc error = std::from_chars(value.data(), value.data() + value.size(), number).ec;
    const bool is_canonical =
        error == std::errc{} && std::to_string(number) == value;  // "01" would be another row than "1"
    if (is_canonical && number >= axis.min && number <= axis.max) return;
    const std::string words = axis.keywords.empty() ? "" : ", or " + join(axis.keywords, ", ");
    throw InputError(fmt::format("{}: {}: '{}' is not a legal value; legal values: whole numbers from {} to {}{}",
                                 where, axis.name, printable(value), axis.min, axis.max, words));
}

std::vector<Item> expand(const Plan& plan, const BenchRegistry& registry, const Settings& settings,
                         const std::string& only)
{
    check_settings(plan, registry, settings);
    std::vector<Item> items = combinations(plan, registry, settings, nullptr);
    keep_only(items, only);
    if (items.empty()) {
        throw InputError(only.empty() ? "the plan has no items"
                                      : "--only '" + printable(only) + "' matches none of the plan's items");
    }
    return items;
}

bool uses_keywords(const Plan& plan, const BenchRegistry& registry, const Settings& settings)
{
    return std::ranges::any_of(plan.entries, [&](const PlanEntry& entry) {
        const Bench* bench = registry.find(entry.bench, kind_of(entry.device, entry.where));
        return bench != nullptr && has_keyword(axes_of(entry, *bench, registry.machine(), settings), *bench, registry);
    });
}

std::vector<Item> expand_keywords(const Plan& plan, const BenchRegistry& registry, const ResolvedSizes& sizes,
                                  const Settings& settings, const std::string& only)
{
    std::vector<Item> items = combinations(plan, registry, settings, &sizes);
    keep_only(items, only);
    return items;
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
