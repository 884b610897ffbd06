#include "ert/method/plan/scheduler.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/ceiling_points.hpp"
#include "ert/method/plan/resolved_sizes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace roof {
namespace {

std::set<std::string> ids_of(std::span<const Measurement> rows)
{
    std::set<std::string> ids;
    for (const Measurement& row : rows) ids.insert(row.id());
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
    std::set<std::string> wanted;
    for (const Item& item : items) wanted.insert(item.id());
    std::vector<Measurement> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const Measurement& r) { return wanted.contains(r.id()); });
    return kept;
}

}  // namespace

Scheduler::Scheduler(Plan plan, const BenchRegistry& registry, Settings settings, std::string only)
    : planned_(expand(plan, registry, settings, only)),
      plan_(std::move(plan)),
      registry_(&registry),
      settings_(std::move(settings)),
      only_(std::move(only))
{
}

std::vector<Item> Scheduler::next(std::span<const Measurement> rows) const
{
    const std::set<std::string> done = ids_of(rows);
    std::vector<Item> left = without_rows(planned_, done);
    if (!left.empty() || registry_ == nullptr) return left;
    return without_rows(resolved_by(rows), done);
}

std::vector<Item> Scheduler::resolved_by(std::span<const Measurement> rows) const
{
    if (!uses_keywords(plan_, *registry_, settings_)) return {};
    const std::vector<Measurement> planned = rows_of(planned_, rows);
    return expand_keywords(plan_, *registry_, resolve_sizes(planned, registry_->machine()), settings_, only_);
}

std::vector<Item> Scheduler::extra_rounds(std::span<const Measurement> rows) const
{
    if (registry_ == nullptr || plan_.max_rounds <= plan_.rounds) return {};
    std::vector<Item> items = planned_;
    const std::vector<Item> resolved = resolved_by(rows);
    items.insert(items.end(), resolved.begin(), resolved.end());
    std::map<std::string, int> rounds;
    for (const Measurement& row : rows) ++rounds[id_without_round(row.bench, row.device, row.point)];
    std::map<std::string, const Item*> by_id;
    for (const Item& item : items) by_id.try_emplace(id_without_round(item.bench_name, item.device, item.point), &item);
    const std::vector<PointSummary> points = summarize_points(rows);
    const std::vector<MeasuredLevel> levels = find_levels(points, registry_->machine());
    std::vector<CeilingPoint> chosen = ceiling_points(points, levels);
    // The time limit may cut the last batch short. Memory goes first, since its interference lasts longest.
    std::ranges::stable_partition(chosen, [](const CeilingPoint& point) { return point.level == memory_level; });
    const RunClock clock(points);
    std::vector<Item> more;
    std::set<std::string> taken;
    for (const CeilingPoint& point : chosen) {
        const std::string id = point.point->best.id();
        const auto known = by_id.find(id);
        const int so_far = rounds[id];
        if (known == by_id.end() || so_far >= plan_.max_rounds || !taken.insert(id).second) continue;
        if (is_settled(make_ceiling(*point.point, point.level, clock))) continue;
        more.push_back(*known->second);
        more.back().point.set("round", std::to_string(so_far + 1));
    }
    return more;
}

}  // namespace roof
