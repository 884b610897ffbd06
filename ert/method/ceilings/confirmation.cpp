#include "ert/method/ceilings/confirmation.hpp"

#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace roof {
namespace {

using Levels = std::vector<MeasuredLevel>;
/// For each cache of one sweep, the index of the same cache in another sweep.
using Partners = std::vector<std::optional<std::size_t>>;

/// The last level is memory, where every sweep ends.
std::size_t caches_in(const Levels& levels)
{
    return levels.empty() ? 0 : levels.size() - 1;
}

/// The least (if shared) and the largest (if private) factor on a level's size for another thread count.
std::pair<double, double> growth(int threads, int others)
{
    const double ratio = static_cast<double>(others) / threads;
    return {std::min(1.0, ratio), std::max(1.0, ratio)};
}

/// By how many octaves the two sizes differ more than is possible for one level. Neighbours may occupy two thirds of
/// it.
double misfit(const MeasuredLevel& one, const MeasuredLevel& other)
{
    constexpr double left = 1.0 / 3;
    const auto [least, most] = growth(one.threads, other.threads);
    const double found = other.to / one.to;
    return std::max({0.0, std::log2(left * least / found), std::log2(left * found / most)});
}

/// Matches each cache of `shorter` to one of `longer`, ascending, with the least total misfit. Of equal matches the
/// earliest wins, since a false level lies on the descent after a true one.
std::vector<std::size_t> place(const Levels& shorter, const Levels& longer)
{
    const std::size_t rows = caches_in(shorter);
    const std::size_t columns = caches_in(longer);
    constexpr double impossible = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> cost(rows + 1, std::vector<double>(columns + 1, impossible));
    cost[rows].assign(columns + 1, 0);
    const auto placed = [&](std::size_t i, std::size_t j) {
        return misfit(shorter[i], longer[j]) + cost[i + 1][j + 1];
    };
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;) cost[i][j] = std::min(placed(i, j), cost[i][j + 1]);
    std::vector<std::size_t> places;
    for (std::size_t j = 0; places.size() < rows; ++j)
        if (placed(places.size(), j) <= cost[places.size()][j + 1]) places.push_back(j);
    return places;
}

Partners partners_of(const Levels& levels, const Levels& others)
{
    Partners partners(caches_in(levels));
    if (caches_in(levels) <= caches_in(others)) {
        std::ranges::copy(place(levels, others), partners.begin());
        return partners;
    }
    const std::vector<std::size_t> places = place(others, levels);
    for (std::size_t i = 0; i < places.size(); ++i) partners[places[i]] = i;
    return partners;
}

/// The number of these sizes that lie on the level at that thread count.
std::ptrdiff_t sizes_on(const MeasuredLevel& level, int threads, const std::vector<double>& sizes)
{
    const auto [least, most] = growth(level.threads, threads);
    return std::ranges::count_if(sizes, [&, low = least, high = most](double size) {
        return size >= low * level.from.value && size <= high * level.to.value;
    });
}

constexpr std::ptrdiff_t least_sizes = 3;

bool has_swept(const SweptLevels& sweep, const MeasuredLevel& level)
{
    return sizes_on(level, sweep.levels.front().threads, sweep.sizes) >= least_sizes;
}

/// Whether most of the sizes on the level were undisturbed.
bool was_undisturbed(const SweptLevels& sweep, const MeasuredLevel& level)
{
    const int threads = sweep.levels.front().threads;
    const std::ptrdiff_t undisturbed = sizes_on(level, threads, sweep.undisturbed);
    return undisturbed >= least_sizes && 2 * undisturbed >= sizes_on(level, threads, sweep.sizes);
}

/// For a level that `sweep` shows and `other` does not: whether only `sweep` was undisturbed there. Narrow levels are
/// excluded, since neighbours' traffic in a shared cache can produce them.
bool outweighs(const SweptLevels& sweep, const MeasuredLevel& level, const SweptLevels& other)
{
    constexpr double wide = 4;
    return level.to / level.from >= wide && was_undisturbed(sweep, level) && !was_undisturbed(other, level);
}

/// Whether the level cannot show with more threads, because the private caches before it hold about as much together.
/// False for a plateau little larger than the one before, and after a level that did not grow with the threads.
bool is_hidden(std::size_t at, const Levels& levels, const Levels& others, const Partners& partners)
{
    constexpr double several = 4;
    constexpr double about = 2;
    constexpr double private_growth = 1.5;  // largest deviation from the ratio of the thread counts
    if (at == 0 || !partners[at - 1] || others.front().threads <= levels.front().threads) return false;
    const MeasuredLevel& before = levels[at - 1];
    const MeasuredLevel& there = others[*partners[at - 1]];
    const double off = there.to / before.to * before.threads / there.threads;
    const bool is_private = off < private_growth && off > 1 / private_growth;
    return is_private && levels[at].to / before.to >= several && levels[at].to / there.to <= about;
}

/// The sweep's caches that the other sweep should show but does not. Fills in `seen_with` of the others.
std::vector<bool> denied_by(const SweptLevels& other, SweptLevels& sweep)
{
    const Partners partners = partners_of(sweep.levels, other.levels);
    std::vector<bool> denied(partners.size());
    for (std::size_t i = 0; i < partners.size(); ++i) {
        MeasuredLevel& level = sweep.levels[i];
        if (partners[i]) level.seen_with.push_back(other.levels.front().threads);
        denied[i] = !partners[i] && has_swept(other, level) && !is_hidden(i, sweep.levels, other.levels, partners) &&
                    !outweighs(sweep, level, other);
    }
    return denied;
}

Levels take_out(const std::vector<bool>& denied, Levels& levels)
{
    Levels kept;
    Levels taken;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        MeasuredLevel& level = levels[i];
        std::ranges::sort(level.seen_with);
        const bool is_memory = i + 1 == levels.size();
        const std::string last = cache_level(kept.size());
        if (is_memory || !denied[i]) {
            if (!is_memory) level.name = cache_level(kept.size() + 1);
            kept.push_back(std::move(level));
            continue;
        }
        level.confirmed = false;
        level.name = kept.empty() ? "before L1" : "after " + last;
        taken.push_back(std::move(level));
    }
    levels = std::move(kept);
    return taken;
}

/// Names the caches of a sweep after those of a sweep that shows more. A level after a missing one begins where the
/// missing one ends.
void name_alike(const Levels& longer, Levels& levels)
{
    const std::vector<std::size_t> places = place(levels, longer);
    for (std::size_t i = 0; i < places.size(); ++i) {
        MeasuredLevel& level = levels[i];
        level.name = longer[places[i]].name;
        const bool follows = places[i] == (i == 0 ? 0 : places[i - 1] + 1);
        if (follows) continue;
        const MeasuredLevel& unseen = longer[places[i] - 1];
        const double most = growth(unseen.threads, level.threads).second * unseen.beyond.value;
        level.from.value = std::min(level.to.value, std::max(level.from.value, most));
    }
}

bool are_comparable(const SweptLevels& one, const SweptLevels& other)
{
    return &one != &other && !one.levels.empty() && !other.levels.empty() &&
           one.levels.front().device == other.levels.front().device;
}

}  // namespace

std::vector<MeasuredLevel> take_out_unconfirmed(std::vector<SweptLevels>& sweeps)
{
    std::vector<std::vector<bool>> denied;
    for (SweptLevels& sweep : sweeps) {
        std::vector<bool>& of_sweep = denied.emplace_back(caches_in(sweep.levels));
        for (MeasuredLevel& level : sweep.levels) level.seen_with = {level.threads};
        for (const SweptLevels& other : sweeps) {
            if (!are_comparable(sweep, other)) continue;
            const std::vector<bool> by_other = denied_by(other, sweep);
            for (std::size_t i = 0; i < by_other.size(); ++i) of_sweep[i] = of_sweep[i] || by_other[i];
        }
    }
    Levels unconfirmed;
    for (std::size_t i = 0; i < sweeps.size(); ++i)
        std::ranges::move(take_out(denied[i], sweeps[i].levels), std::back_inserter(unconfirmed));
    for (SweptLevels& sweep : sweeps)
        for (const SweptLevels& other : sweeps)
            if (are_comparable(sweep, other) && caches_in(sweep.levels) < caches_in(other.levels))
                name_alike(other.levels, sweep.levels);
    return unconfirmed;
}

}  // namespace roof
