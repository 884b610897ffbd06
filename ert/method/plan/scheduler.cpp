#include "ert/method/plan/scheduler.hpp"

#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/spec_rate.hpp"
#include "ert/method/ceilings/steadiness.hpp"
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

std::vector<Item> without_row(const std::vector<Item>& items, const std::set<std::string>& done)
{
    std::vector<Item> left;
    std::ranges::copy_if(items, std::back_inserter(left), [&](const Item& item) { return !done.contains(item.id()); });
    return left;
}

std::string id_without_round(const std::string& bench, const std::string& device, const Point& point)
{
    return bench + " " + device + " " + point.without("round").str();
}

/// Of several rounds, one round that found an undisturbed moment is an opinion; it takes two to agree. A clock that wandered has
/// been read at every point: more rounds to one do not steady it.
bool is_settled(const Ceiling& ceiling, int rounds, const Machine& machine)
{
    const bool agree = ceiling.steadiness == Steadiness::steady || ceiling.steadiness == Steadiness::unsteady_clock;
    return agree && ceiling.rounds >= std::min(rounds, 2) && !ceiling.disturbed && !falls_short(ceiling, machine);
}

/// Where the processors move, memory has two rates for several threads. PointHistory that agree have met one of them.
bool may_have_another(const Ceiling& ceiling, const Ceilings& ceilings)
{
    const bool is_of_several = ceiling.kind == Role::bandwidth && ceiling.level == "DRAM" && ceiling.threads > 1;
    return is_of_several && std::ranges::any_of(ceilings.all, shows_two_distances);
}

/// Only the written items decide what is found, or each answer would change the question.
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
    : written_(expand(plan, registry, settings, only)),
      plan_(std::move(plan)),
      registry_(&registry),
      settings_(std::move(settings)),
      only_(std::move(only))
{
}

std::vector<Item> Scheduler::next(std::span<const Measurement> rows) const
{
    const std::set<std::string> done = ids_of(rows);
    std::vector<Item> left = without_row(written_, done);
    if (!left.empty() || registry_ == nullptr) return left;
    return without_row(found_by(rows), done);
}

std::vector<Item> Scheduler::found_by(std::span<const Measurement> rows) const
{
    if (!uses_keywords(plan_, *registry_, settings_)) return {};
    const std::vector<Measurement> written = rows_of(written_, rows);
    return expand_keywords(plan_, *registry_, resolve_sizes(written, registry_->machine()), settings_, only_);
}

std::vector<Item> Scheduler::further(std::span<const Measurement> rows) const
{
    if (registry_ == nullptr || plan_.max_rounds <= plan_.rounds) return {};
    std::vector<Item> items = written_;
    const std::vector<Item> found = found_by(rows);
    items.insert(items.end(), found.begin(), found.end());
    std::map<std::string, int> rounds;
    for (const Measurement& row : rows) ++rounds[id_without_round(row.bench, row.device, row.point)];
    std::map<std::string, const Item*> by_id;
    for (const Item& item : items) by_id.try_emplace(id_without_round(item.bench_name, item.device, item.point), &item);
    std::vector<Item> more;
    std::set<std::string> taken;
    Ceilings ceilings = fit_ceilings(rows, registry_->machine());
    // The end of a run cuts its last batch short. Memory, whose interference lasts longest, is not to bear that.
    std::ranges::stable_partition(ceilings.all, [](const Ceiling& ceiling) { return ceiling.level == "DRAM"; });
    for (const Ceiling& ceiling : ceilings.all) {
        const auto known = by_id.find(ceiling.point);
        const int so_far = rounds[ceiling.point];
        const bool is_done =
            is_settled(ceiling, plan_.rounds, registry_->machine()) && !may_have_another(ceiling, ceilings);
        if (is_done || known == by_id.end() || so_far >= plan_.max_rounds) continue;
        if (!taken.insert(ceiling.point).second) continue;
        more.push_back(*known->second);
        more.back().point.set("round", std::to_string(so_far + 1));
    }
    return more;
}

}  // namespace roof
