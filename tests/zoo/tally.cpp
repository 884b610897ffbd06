#include "tests/zoo/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace roof::zoo {
namespace {

double share(std::size_t part, std::size_t of)
{
    return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

/// Groups of kinds that are judged together.
struct Pool {
    std::string name;
    Group group = Group::near;
    GroupTally tally;
};

/// The pooling rule of limits.hpp, by the number of steady intervals or of lower bounds: `what`.
std::vector<Pool> pools_of(const std::vector<Tally>& tallies, std::size_t GroupTally::*number, const char* what,
                           std::vector<std::string>& unjudged)
{
    std::vector<Pool> pools;
    for (const Half half : {Half::design, Half::judging}) {
        for (const Group group : groups) {
            std::map<Source, Pool> by_source;
            for (const Tally& tally : tallies) {
                const GroupTally& of_kind = tally.of(group);
                if (tally.kind->half != half || of_kind.*number == 0) continue;
                if (of_kind.*number >= figures::least_judged) {
                    pools.push_back({fmt::format("{}: {}", tally.kind->name, name(group)), group, of_kind});
                    continue;
                }
                Pool& pool = by_source[tally.kind->source];
                pool.group = group;
                pool.name += fmt::format("{}{}", pool.name.empty() ? "" : " + ", tally.kind->name);
                pool.tally += of_kind;
            }
            Pool rest{"", group, {}};
            for (auto& [source, pool] : by_source) {
                if (pool.tally.*number >= figures::least_judged) {
                    pools.push_back({fmt::format("{}: {}", pool.name, name(group)), group, pool.tally});
                    continue;
                }
                rest.name += fmt::format("{}{}", rest.name.empty() ? "" : " + ", pool.name);
                rest.tally += pool.tally;
            }
            if (rest.tally.*number == 0) continue;
            rest.name = fmt::format("{}: {}", rest.name, name(group));
            if (rest.tally.*number >= figures::least_judged)
                pools.push_back(rest);
            else
                unjudged.push_back(fmt::format("{}: {} {}", rest.name, rest.tally.*number, what));
        }
    }
    return pools;
}

template <class List>
void append(List& to, const List& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

double quantile_of(std::vector<float> values, double share)
{
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
    std::ranges::nth_element(values, at);
    return *at;
}

double median_of(std::vector<float> values)
{
    return quantile_of(std::move(values), 0.5);
}

void GroupTally::add(const JudgedCeiling& ceiling)
{
    const double over = ceiling.over_truth();
    ++ceilings;
    if (ceiling.is_steady()) {
        ++steady;
        half_widths.push_back(static_cast<float>(ceiling.half_width()));
        if (ceiling.holds)
            ++steady_holds;
        else
            misses.push_back(static_cast<float>(std::abs(over - 1)));
        if (over < 1 - figures::low_by) ++steady_and_low;
        if (ceiling.holds_after) ++holds_after;
        if (ceiling.is_wrong) ++steady_and_wrong;
    } else if (ceiling.state == Steadiness::at_least) {
        ++at_least;
        if (ceiling.is_above()) ++above;
        if (ceiling.is_seen) bounds.push_back(static_cast<float>(ceiling.value / ceiling.truth.alone));
    } else {
        ++unsteady;
        if (ceiling.holds) ++unsteady_holds;
    }
}

GroupTally& GroupTally::operator+=(const GroupTally& other)
{
    for (const auto& [name, count] : counts_of_group) this->*count += other.*count;
    for (const auto& [name, list] : shares_of_group) append(this->*list, other.*list);
    return *this;
}

void Tally::add(const Calibration& calibration, const Verdict& verdict)
{
    kind = calibration.model.kind;
    ++machines;
    if (calibration.status) ++statuses[*calibration.status];
    seconds.push_back(calibration.seconds);
    rows += calibration.rows;
    levels_right += verdict.has_right_levels ? 1 : 0;
    false_levels += verdict.has_false_level ? 1 : 0;
    edges += verdict.edges.size();
    edges_right += static_cast<std::size_t>(std::ranges::count_if(verdict.edges, &JudgedEdge::is_right));
    bool is_any_low = false;
    for (const JudgedCeiling& ceiling : verdict.ceilings) {
        by_group[static_cast<std::size_t>(ceiling.group)].add(ceiling);
        is_any_low = is_any_low || (ceiling.is_steady() && ceiling.over_truth() < 1 - figures::low_by);
    }
    any_steady_and_low += is_any_low ? 1 : 0;
}

Tally& Tally::operator+=(const Tally& other)
{
    if (kind == nullptr) std::tie(kind, looks) = std::tuple(other.kind, other.looks);
    machines += other.machines;
    levels_right += other.levels_right;
    false_levels += other.false_levels;
    edges += other.edges;
    edges_right += other.edges_right;
    any_steady_and_low += other.any_steady_and_low;
    for (const auto& [status, count] : other.statuses) statuses[status] += count;
    broken += other.broken;
    append(seconds, other.seconds);
    rows += other.rows;
    for (std::size_t i = 0; i < by_group.size(); ++i) by_group[i] += other.by_group[i];
    return *this;
}

GroupTally Tally::all() const
{
    GroupTally sum;
    for (const GroupTally& group : by_group) sum += group;
    return sum;
}

std::vector<Finding> findings_of(const std::vector<Tally>& tallies, std::vector<std::string>& unjudged)
{
    std::vector<Finding> found;
    const auto least = [&](const char* figure, const std::string& of, double value, double bound, std::size_t cases) {
        found.push_back({figure, of, value, bound, true, cases});
    };
    const auto most = [&](const char* figure, const std::string& of, double value, double bound, std::size_t cases) {
        found.push_back({figure, of, value, bound, false, cases});
    };
    for (const Tally& tally : tallies) {
        const Kind& kind = *tally.kind;
        const std::string of(kind.name);
        least("levels right", of, share(tally.levels_right, tally.machines),
              kind.source == Source::none ? figures::levels_right_quiet : figures::levels_right_disturbed,
              tally.machines);
        most("false levels", of, share(tally.false_levels, tally.machines), figures::false_levels, tally.machines);
        if (tally.edges > 0)
            least("edges within half an octave", of, share(tally.edges_right, tally.edges),
                  kind.source == Source::none ? figures::levels_right_quiet : figures::levels_right_disturbed,
                  tally.edges);
        std::size_t commands = tally.broken;
        for (const auto& [status, count] : tally.statuses) commands += count;
        const auto zero = tally.statuses.find(0);
        if (commands > 0)
            least("exit status 0", of, share(zero == tally.statuses.end() ? 0 : zero->second, commands), 1, commands);
        if (!tally.seconds.empty())
            most("seconds of the longest, over 20 quiet or 34", of,
                 std::ranges::max(tally.seconds) /
                     (kind.is_quiet() ? figures::most_seconds_quiet : figures::most_seconds),
                 1, tally.machines);
        const GroupTally all = tally.all();
        const bool is_disturbed =
            kind.is_little_disturbed() || (kind.is_disturbed_two_thirds() && tally.looks >= figures::many_looks);
        if (kind.is_quiet() || is_disturbed) {
            least("share of steady ceilings", of, share(all.steady, all.ceilings),
                  kind.is_quiet() ? figures::steady_quiet : figures::steady_disturbed, all.ceilings);
            most("half-width of steady ceilings, median", of, median_of(all.half_widths),
                 kind.is_quiet() ? figures::half_width_quiet : figures::half_width_disturbed, all.steady);
        }
        for (const Group group : groups) {
            const GroupTally& of_group = tally.of(group);
            const std::string both = fmt::format("{}: {}", of, name(group));
            if (of_group.ceilings == 0) continue;
            if (kind.change != Change::none)
                most("steady and wrong by 5% after an event", both, share(of_group.steady_and_wrong, of_group.ceilings),
                     figures::steady_and_wrong, of_group.ceilings);
            most("steady and more than 3% low", both, share(of_group.steady_and_low, of_group.ceilings),
                 figures::steady_and_low, of_group.ceilings);
        }
    }
    for (const Pool& pool : pools_of(tallies, &GroupTally::at_least, "lower bounds", unjudged)) {
        most("lower bounds above the truth", pool.name, share(pool.tally.above, pool.tally.at_least),
             figures::bounds_above, pool.tally.at_least);
        if (pool.tally.bounds.empty()) continue;
        least("lower bound over truth, median", pool.name, median_of(pool.tally.bounds), figures::bound_reaches,
              pool.tally.bounds.size());
        least("lower bound over truth, of 95%", pool.name, quantile_of(pool.tally.bounds, 0.05),
              figures::bound_reaches_in_95, pool.tally.bounds.size());
    }
    for (const Pool& pool : pools_of(tallies, &GroupTally::steady, "steady intervals", unjudged)) {
        least("steady intervals that hold the truth", pool.name, share(pool.tally.steady_holds, pool.tally.steady),
              figures::steady_holds, pool.tally.steady);
        if (!pool.tally.misses.empty())
            most("miss of a steady interval, median", pool.name, median_of(pool.tally.misses), figures::median_miss,
                 pool.tally.misses.size());
    }
    return found;
}

}  // namespace roof::zoo
