#include "ert/method/plan/scheduler.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/plan/resolved_sizes.hpp"

#include <algorithm>
#include <map>
#include <set>

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

/// A varying clock affects every point, so more rounds of one do not help.
bool is_settled(const Ceiling& ceiling)
{
    return ceiling.steadiness == Steadiness::steady || ceiling.steadiness == Steadiness::clock_varied;
}

/// The rows of these items. Only planned items resolve keywords; otherwise each result would change the next.
std::vector<Measurement> rows_of(const std::vector<Item>& items, std::span<const Measurement> rows)
{
    const std::set<std::string> wanted = ids_of(items);
    std::vector<Measurement> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const Measurement& r) { return wanted.contains(r.id()); });
    return kept;
}

}  // namespace

Scheduler::Scheduler(Plan plan, const BenchRegistry& registry, const Settings& settings, std::string only)
    : planned_(expand(plan, registry, settings, only)),
      plan_(std::move(plan)),
      registry_(&registry),
      only_(std::move(only))
{
    std::ranges::copy_if(planned_, std::back_inserter(open_), &Item::is_open);
    std::erase_if(planned_, &Item::is_open);
}

std::vector<Item> Scheduler::next(std::span<const Measurement> rows) const
{
    const std::set<std::string> done = ids_of(rows);
    const std::vector<Item> left = without_rows(planned_, done);
    return left.empty() ? without_rows(resolved_by(rows), done) : left;
}

std::vector<Item> Scheduler::resolved_by(std::span<const Measurement> rows) const
{
    if (open_.empty()) return {};
    return matching(at_sizes(open_, resolve_sizes(rows_of(planned_, rows), registry_->machine())), only_);
}

std::vector<Item> Scheduler::extra_rounds(std::span<const Measurement> rows) const
{
    if (registry_ == nullptr || plan_.max_rounds <= plan_.rounds) return {};
    std::vector<Item> items = planned_;
    std::ranges::move(resolved_by(rows), std::back_inserter(items));
    std::map<std::string, int> rounds;
    for (const Measurement& row : rows) ++rounds[id_without_round(row.bench, row.device, row.point)];
    std::map<std::string, const Item*> by_id;
    for (const Item& item : items) by_id.try_emplace(id_without_round(item.bench_name, item.device, item.point), &item);
    const std::vector<PointSummary> points = summarize_points(rows);
    std::vector<Ceiling> ceilings = ceilings_of(points, find_levels(points, registry_->machine()));
    // The time limit may cut the last batch short. Memory goes first, since its interference lasts longest.
    std::ranges::stable_partition(ceilings, [](const Ceiling& ceiling) { return ceiling.level == memory_level; });
    std::vector<Item> more;
    std::set<std::string> taken;
    for (const Ceiling& ceiling : ceilings) {
        const auto known = by_id.find(ceiling.point);
        const int so_far = rounds[ceiling.point];
        if (known == by_id.end() || so_far >= plan_.max_rounds || !taken.insert(ceiling.point).second) continue;
        if (is_settled(ceiling)) continue;
        more.push_back(*known->second);
        more.back().point.set("round", std::to_string(so_far + 1));
    }
    return more;
}

}  // namespace roof
