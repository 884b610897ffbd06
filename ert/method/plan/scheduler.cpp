#include "ert/method/plan/scheduler.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

namespace roof {
namespace {

template <class List>
std::set<std::string> ids_of(const List& rows_or_items)
{
    std::set<std::string> ids;
    for (const auto& one : rows_or_items) ids.insert(one.id());
    return ids;
}

std::vector<Item> without_rows(const std::vector<Item>& items, const std::set<std::string>& done)
{
    std::vector<Item> left;
    std::ranges::copy_if(items, std::back_inserter(left), [&](const Item& item) { return !done.contains(item.id()); });
    return left;
}

/// A varying clock affects every point, so more rounds of one do not help. What changed for two ceilings of a level, or
/// for a tenth of all, may have changed for all.
bool is_settled(const Ceiling& ceiling, const std::vector<Ceiling>& all)
{
    int of_level = 0;
    int of_device = 0;
    for (const Ceiling& other : all) {
        if (other.steadiness != Steadiness::changed || other.device != ceiling.device) continue;
        ++of_device;
        of_level += other.level == ceiling.level ? 1 : 0;
    }
    return (ceiling.steadiness == Steadiness::steady || ceiling.steadiness == Steadiness::clock_varied) &&
           of_level < 2 && 10 * of_device < std::ssize(all);
}

/// Before a rate of memory is taken again: what it gives after a rest may be a burst.
constexpr int launches_without_rest = 80;

/// What an item with a keyword and its rows share.
std::string id_without_set(const std::string& bench, const std::string& device, const Point& point)
{
    return id_without_round(bench, device, point.without("working_set"));
}

bool asks_for_edges(const Item& item)
{
    return item.point.text("working_set") == "edges";
}

using Sizes = std::vector<long long>;

/// Thirds of the distance (in octaves) between the level's last working set and the first beyond it, in whole pages per
/// thread. None where the two are so near that the next level would hold them both.
Sizes across_the_edge(const MeasuredLevel& level)
{
    const double step = 4096.0 * level.threads;
    const double ratio = level.beyond.value / level.to.value;
    Sizes sizes;
    for (const double share : {1.0 / 3, 2.0 / 3})
        if (ratio > 1.15)
            sizes.push_back(std::llround(level.to.value * std::pow(ratio, share) / step) * std::llround(step));
    return sizes;
}

/// Two octaves past the largest set, as far as half of the available memory holds them.
Sizes beyond_the_sweep(const MeasuredLevel& level, const Machine& machine)
{
    Sizes sizes;
    const Device* const device = machine.find_device(level.device);
    const double most = device == nullptr ? 0 : device->memory_available.value / 2;
    for (const double octave : {2.0, 4.0})
        if (const double size = octave * level.swept.back().working_set; size <= most)
            sizes.push_back(std::llround(size));
    return sizes;
}

/// The numbers 0 to count - 1 in an order of which any beginning is spread over all of them: by their binary digits,
/// reversed.
std::vector<std::size_t> spread_order(std::size_t count)
{
    const auto reversed = [](std::size_t number) {
        std::size_t digits = 0;
        for (int i = 0; i < 32; ++i) digits = digits << 1 | (number >> i & 1);
        return digits;
    };
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, reversed);
    return order;
}

double set_of(const Item& item)
{
    return item.point.has("working_set") ? item.point.number("working_set") : 0;
}

bool is_supported(const Item& item, const Machine& machine)
{
    return item.bench != nullptr &&
           !item.bench->unsupported_reason(item.point, machine, device_for(machine, item.device));
}

/// A place before 0 for what a calibration that is cut short needs for its roofs, with every number of threads: -4:
/// multiply-adds of each precision on the widest vectors or tiles of the machine; -3: the largest load; -2: loads from
/// four smaller sets, spread over the levels; -1: the other loads, which show the sizes for copies.
std::optional<double> place_of_needed(const Item& item, const std::vector<Item>& items, const Machine& machine)
{
    if (item.bench == nullptr) return {};  // its sizes may be keywords
    const std::string operation = item.point.text_or("operation", item.bench_name);
    const auto text = [](const Item& of, const char* axis) { return of.point.text_or(axis, ""); };
    const auto has_same = [&](const Item& other, std::initializer_list<const char*> axes) {
        return other.bench_name == item.bench_name && other.device == item.device &&
               std::ranges::all_of(axes, [&](const char* axis) { return text(other, axis) == text(item, axis); });
    };
    if (is_multiply_add(operation)) {
        const auto is_widest = [&](const Item& other) {  // they are listed by width
            return has_same(other, {"operation", "precision", "threads"}) && is_supported(other, machine);
        };
        const auto last = operation == "mul+add" ? items.rend() : std::find_if(items.rbegin(), items.rend(), is_widest);
        return last != items.rend() && text(*last, "isa") == text(item, "isa") ? -4 : std::optional<double>();
    }
    if (item.bench_name != "bandwidth" || operation != "load" || set_of(item) <= 0) return {};
    std::set<double> sets;
    for (const Item& other : items)
        if (has_same(other, {"operation", "threads"})) sets.insert(set_of(other));
    const auto place = static_cast<std::size_t>(std::distance(sets.begin(), sets.find(set_of(item))));
    constexpr std::size_t parts = 4;
    for (std::size_t part = 0; part <= parts; ++part)
        if (place == (sets.size() - 1) * part / parts) return place + 1 == sets.size() ? -3 : -2;
    return -1;
}

/// Puts the items of the first round that a roof needs first; their number. `is_spread`: spreads the rest of a round.
std::size_t order(std::vector<Item>& items, const Machine& machine, bool is_spread)
{
    std::map<std::pair<std::string, std::string>, std::vector<const Item*>> entries;
    std::map<std::string, double> rounds;  // their places, in the order of the items
    for (const Item& item : items) {
        const std::string round = item.point.text_or("round", "");
        rounds.try_emplace(round, static_cast<double>(rounds.size()));
        entries[{round, is_spread ? item.where + item.device : ""}].push_back(&item);
    }
    std::vector<std::pair<double, const Item*>> places;
    for (const auto& [key, entry] : entries) {
        const auto count = static_cast<double>(entry.size());
        const std::vector<std::size_t> spread = spread_order(entry.size());
        for (std::size_t i = 0; i < entry.size(); ++i) {
            const Item& item = *entry[is_spread ? spread[i] : i];
            const double place = rounds[key.first] + (static_cast<double>(i) + 0.5) / count;
            places.emplace_back(place < 1 ? place_of_needed(item, items, machine).value_or(place) : place, &item);
        }
    }
    std::ranges::stable_sort(places, {}, &std::pair<double, const Item*>::first);
    std::vector<Item> ordered;
    for (const auto& [place, item] : places) ordered.push_back(*item);
    items = std::move(ordered);
    return static_cast<std::size_t>(std::ranges::count_if(places, [](const auto& one) { return one.first < 0; }));
}

}  // namespace

Scheduler::Scheduler(Plan plan, const BenchRegistry& registry, const Settings& settings, std::string only)
    : planned_(expand(plan, registry, settings, only)),
      plan_(std::move(plan)),
      all_rounds_(plan_.max_rounds),
      registry_(&registry),
      only_(std::move(only))
{
    std::ranges::copy_if(planned_, std::back_inserter(open_), &Item::is_open);
    std::erase_if(planned_, &Item::is_open);
    if (plan_.rounds > 1 || plan_.end_after.value > 0)
        needed_ = order(planned_, registry.machine(), plan_.end_after.value > 0);
    for (Item item : open_) {
        if (item.point.text_or("operation", "") != "copy" || item.point.text_or("round", "1") != "1") continue;
        item.point.set("working_set", "fastest");
        copies_.push_back(std::move(item));
    }
}

void Scheduler::grant(Seconds time)
{
    if (time.value > 0) plan_.extra_rounds_until = plan_.end_after = time;
    if (plan_.extra_rounds_until.value > 0) plan_.max_rounds = std::numeric_limits<int>::max();
}

std::vector<Item> Scheduler::left(std::span<const Measurement> rows) const
{
    return without_rows(planned_, ids_of(rows));
}

std::vector<Item> Scheduler::next(std::span<const Measurement> rows) const
{
    const std::set<std::string> done = ids_of(rows);
    if (const std::vector<Item> left = without_rows(planned_, done); !left.empty()) {
        const std::vector<Item> needed(planned_.begin(), planned_.begin() + static_cast<std::ptrdiff_t>(needed_));
        if (std::vector<Item> first = without_rows(needed, done); !first.empty()) return first;
        const std::vector<Item> copies = without_rows(at_sizes_of(needed, rows, copies_), done);
        return copies.empty() ? left : copies;
    }
    std::vector<Item> edges = open_;
    std::vector<Item> others = open_;
    std::erase_if(edges, [](const Item& item) { return !asks_for_edges(item); });
    std::erase_if(others, asks_for_edges);
    std::vector<Item> known = at_sizes_of(planned_, rows, edges);
    if (std::vector<Item> left = without_rows(known, done); !left.empty()) return left;
    known.insert(known.end(), planned_.begin(), planned_.end());
    return without_rows(at_sizes_of(known, rows, others), done);
}

std::vector<Item> Scheduler::at_sizes_of(const std::vector<Item>& known, std::span<const Measurement> rows,
                                         const std::vector<Item>& open) const
{
    if (open.empty() || known.empty()) return {};
    // Only planned items resolve keywords; otherwise each result would change the next.
    const std::set<std::string> resolving = ids_of(known);
    const auto resolves = [&](const Measurement& row) {
        return row.role != Role::compute && resolving.contains(row.id());
    };
    std::vector<Item> items = matching(at_sizes(open, resolve_sizes(rows, registry_->machine(), resolves)), only_);
    if (plan_.end_after.value > 0) order(items, registry_->machine(), true);
    return items;
}

std::vector<Item> Scheduler::extra_rounds(std::span<const Measurement> rows) const
{
    if (registry_ == nullptr || plan_.max_rounds <= plan_.rounds) return {};
    std::map<std::string, const Item*> items;
    for (const auto* const list : {&planned_, &open_})
        for (const Item& item : *list)
            items.try_emplace(id_without_set(item.bench_name, item.device, item.point), &item);
    std::vector<Item> more;
    const std::vector<PointSummary> summaries = summarize_points(rows);
    std::vector<Ceiling> ceilings = ceilings_of(summaries, find_levels(summaries, registry_->machine()));
    // The time limit may cut the last batch short. Memory goes first, since its interference lasts longest.
    const auto others =
        std::ranges::stable_partition(ceilings, [](const Ceiling& ceiling) { return ceiling.level == memory_level; });
    std::set<std::string> of_memory;
    for (auto ceiling = ceilings.begin(); ceiling != others.begin(); ++ceiling)
        if (ceiling->kind == Role::bandwidth && kind_of_device(ceiling->device) == "cpu")
            of_memory.insert(ceiling->point);
    const auto add = [&](const Measurement& row, int so_far) {
        const auto known = items.find(id_without_set(row.bench, row.device, row.point));
        if (known == items.end()) return;
        Item& item = more.emplace_back(*known->second);
        item.is_open = false;
        if (row.point.has("working_set")) item.point.set("working_set", row.point.text("working_set"));
        item.point.set("round", std::to_string(so_far + 1));
        if (of_memory.contains(id_without_round(row.bench, row.device, row.point)))
            item.stopping.warmup = std::max(item.stopping.warmup, launches_without_rest);
    };
    std::map<std::string, std::pair<int, const Measurement*>> points;  // rounds so far, and the last
    for (const Measurement& row : rows) {
        auto& [so_far, last] = points[id_without_round(row.bench, row.device, row.point)];
        ++so_far;
        last = &row;
    }
    std::set<std::string> taken;
    // The round that closes the run: at another time, and with memory and loops chosen anew. What is seen last was seen
    // at the end.
    for (const Ceiling& ceiling : ceilings | std::views::reverse) {
        const auto& [so_far, row] = points.at(ceiling.point);
        if (so_far == plan_.rounds && taken.insert(ceiling.point).second) add(*row, so_far);
    }
    if (!more.empty()) return more;
    // The rounds are looked at twice, after that one and after all: looking after each would find chance agreements.
    // What was begun in between goes on, in the order of the batch before.
    const int at_first_look = plan_.rounds + 1;
    std::map<const Measurement*, int> begun;
    for (const auto& [id, point] : points)
        if (point.first > at_first_look && point.first < all_rounds_) begun.emplace(point.second, point.first);
    for (const auto& [row, so_far] : begun) add(*row, so_far);
    if (!more.empty()) return more;
    for (const Ceiling& ceiling : ceilings) {
        const auto& [so_far, row] = points.at(ceiling.point);
        if (so_far < plan_.max_rounds && !is_settled(ceiling, ceilings) && taken.insert(ceiling.point).second)
            add(*row, so_far);
    }
    return more;
}

ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine,
                            const std::function<bool(const Measurement&)>& takes)
{
    ResolvedSizes resolved;
    for (const MeasuredLevel& level : find_levels(summarize_points(rows, takes), machine)) {
        const auto add = [&](const std::string& keyword, const Sizes& sizes) {
            Sizes& list = resolved[{level.device, level.threads, keyword}];
            for (const long long size : sizes)
                if (std::ranges::find(list, size) == list.end()) list.push_back(size);
        };
        Sizes swept;
        for (const RatePoint& point : level.swept) swept.push_back(std::llround(point.working_set));
        const auto from = [&](std::size_t first, std::size_t count) {
            const auto sizes = std::span(swept).subspan(first).first(std::min(count, swept.size() - first));
            return Sizes(sizes.begin(), sizes.end());
        };
        const std::size_t fastest = fastest_pair(level.swept);
        const bool is_memory = level.name == memory_level;
        const std::size_t largest = std::min<std::size_t>(is_memory ? 1 : 3, swept.size());
        add("levels", from(swept.size() - largest, largest));
        if (is_memory) add("memory", {swept.back()});
        if (!is_memory) add("levels", from(fastest, 2));
        add("fastest", from(fastest, 1));
        add("edges", across_the_edge(level));
        if (level.still_falls) add("edges", beyond_the_sweep(level, machine));
    }
    return resolved;
}

std::vector<Item> at_sizes(const std::vector<Item>& items, const ResolvedSizes& sizes)
{
    std::vector<Item> resolved;
    std::set<std::string> seen;
    for (Item item : items) {
        if (!item.is_open) continue;
        item.is_open = false;
        const int threads = item.point.has("threads") ? static_cast<int>(item.point.integer("threads")) : 1;
        const auto found = sizes.find({item.device, threads, item.point.text("working_set")});
        if (found == sizes.end()) continue;
        for (const long long size : found->second) {
            item.point.set("working_set", std::to_string(size));
            if (seen.insert(item.id()).second) resolved.push_back(item);
        }
    }
    return resolved;
}

}  // namespace roof
