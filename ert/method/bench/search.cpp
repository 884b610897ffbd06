#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace roof {
namespace {

constexpr double equal = 1.02;                ///< of two costs: neither candidate is worth another turn for it
constexpr double same = 1.002;                ///< the first of such candidates is taken
constexpr std::size_t groups = 4;             ///< of turns, which must agree
constexpr std::size_t turns_to_judge = 2;     ///< before a candidate is given up
constexpr double give_up_factor = 3;          ///< after these turns
constexpr double later_give_up_factor = 1.5;  ///< after as many turns as groups
constexpr std::size_t finalists = 5;          ///< that go on when half of the time is spent

Seconds time(const std::function<void(std::size_t)>& work, std::size_t count, const Clock& clock)
{
    const Seconds before = clock();
    work(count);
    return clock() - before;
}

double smallest(std::vector<double> costs, std::size_t rank)
{
    const auto at = costs.begin() + static_cast<std::ptrdiff_t>(std::min(rank, costs.size() - 1));
    std::ranges::nth_element(costs, at);
    return *at;
}

/// Interference only adds to a cost, so the least is the candidate's own if another turn, or an eighth of them, comes
/// near it.
bool is_confirmed(const std::vector<double>& costs)
{
    constexpr std::size_t share = 8;
    return costs.size() > 1 &&
           smallest(costs, std::max<std::size_t>(1, costs.size() / share)) <= smallest(costs, 0) * equal;
}

/// The cost of `one` over that of `other`, by the turns `from`, `from` + `step`, ... that both took part in: of their
/// least costs, if both are confirmed. Else the median of the ratios within a turn, for disturbances that last longer
/// than a turn slow both.
double ratio(const std::vector<double>& one, const std::vector<double>& other, std::size_t from = 0,
             std::size_t step = 1)
{
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    for (std::size_t turn = from; turn < std::min(one.size(), other.size()); turn += step) {
        ours.push_back(one[turn]);
        theirs.push_back(other[turn]);
        ratios.push_back(one[turn] / other[turn]);
    }
    if (is_confirmed(ours) && is_confirmed(theirs)) return smallest(ours, 0) / smallest(theirs, 0);
    const std::size_t middle = ratios.size() / 2;
    return ratios.size() % 2 == 1 ? smallest(ratios, middle)
                                  : std::sqrt(smallest(ratios, middle - 1) * smallest(ratios, middle));
}

class Search {
  public:
    Search(std::size_t candidates, Turns earlier) : costs_(std::move(earlier))
    {
        costs_.resize(candidates);
        for (const std::vector<double>& each : costs_) turns_ = std::max(turns_, each.size());
        for (std::size_t i = 0; i < candidates; ++i)
            if (costs_[i].size() == turns_) tried_.push_back(i);
        if (turns_ > 0) judge();
    }

    void take_turn(const std::function<double(std::size_t)>& cost)
    {
        std::vector<std::size_t> order = tried_;
        std::ranges::shuffle(order, random_);
        for (const std::size_t i : order) costs_[i].push_back(cost(i));
        ++turns_;
        judge();
    }
    /// Keeps those with the least costs.
    void keep(std::size_t most)
    {
        if (turns_ < turns_to_judge || tried_.size() <= most) return;
        std::ranges::stable_sort(tried_, {}, [&](std::size_t i) { return i == best_ ? 0 : smallest(costs_[i], 0); });
        tried_.resize(most);
        std::ranges::sort(tried_);
    }
    std::size_t turns() const { return turns_; }
    bool is_decided() const { return is_decided_; }
    Fastest result() && { return {best_, is_decided_, smallest(costs_[best_], 0), std::move(costs_)}; }

  private:
    void judge()
    {
        const auto runs = [&](std::size_t i) { return std::isfinite(costs_[i].back()); };
        if (std::ranges::any_of(tried_, runs)) std::erase_if(tried_, [&](std::size_t i) { return !runs(i); });
        best_ = tried_.front();
        for (const std::size_t i : tried_)
            if (ratio(costs_[best_], costs_[i]) > same) best_ = i;
        std::erase_if(tried_, [&](std::size_t i) { return i != best_ && is_slow(i); });
        is_decided_ = turns_ >= 2 * groups && std::ranges::all_of(tried_, [&](std::size_t i) {
                          return i == best_ || in_all_groups([&](double slower) { return slower >= 1 / equal; }, i);
                      });
        is_decided_ = is_decided_ || (turns_ >= turns_to_judge && tried_.size() == 1);
    }
    bool is_slow(std::size_t i) const
    {
        if (turns_ < turns_to_judge) return false;
        const double factor = turns_ < groups ? give_up_factor : later_give_up_factor;
        if (smallest(costs_[i], 0) > smallest(costs_[best_], 1) * factor) return true;
        return turns_ >= 2 * groups && in_all_groups([](double slower) { return slower > equal; }, i);
    }
    /// Whether the condition holds in each group of turns for the ratio of candidate i to the best.
    template <class Condition>
    bool in_all_groups(const Condition& holds, std::size_t i) const
    {
        for (std::size_t group = 0; group < groups; ++group)
            if (!holds(ratio(costs_[i], costs_[best_], group, groups))) return false;
        return true;
    }

    Turns costs_;
    std::size_t turns_ = 0;
    std::mt19937 random_;
    std::vector<std::size_t> tried_;
    std::size_t best_ = 0;
    bool is_decided_ = false;
};

}  // namespace

Fastest fastest_of(std::size_t candidates, const SearchBudget& budget, const std::function<double(std::size_t)>& cost,
                   const Clock& clock, Turns earlier)
{
    Search search(candidates, std::move(earlier));
    const Seconds begin = clock();
    for (std::size_t taken = 0; !search.is_decided() && search.turns() < budget.most_turns; ++taken) {
        const Seconds spent = clock() - begin;
        if (taken >= budget.least_turns && spent >= budget.time) break;
        if (spent >= budget.time / 2) search.keep(finalists);
        search.take_turn(cost);
    }
    return std::move(search).result();
}

/// The doubling takes about as long as the last call, which takes about a quarter of the target.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock)
{
    constexpr double fair_share = 0.25;
    constexpr int tries = 3;
    constexpr std::size_t most = std::size_t{1} << 40;
    for (std::size_t count = 1;; count *= 2) {
        Seconds taken = time(work, count, clock);
        // A context switch lengthens any call, so several calls must confirm the time.
        for (int i = 1; i < tries && taken >= target * fair_share; ++i)
            taken = std::min(taken, time(work, count, clock));
        if (taken < target * fair_share && count < most) continue;
        return static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(count) * (target / taken))));
    }
}

}  // namespace roof
