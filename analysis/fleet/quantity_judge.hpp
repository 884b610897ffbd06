// One quantity of a group's nodes: its populations, what of it is compared, and the tests of each node.
#pragma once

#include "analysis/fleet/group_judge.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

/// Some members' rates of one quantity, which are compared with each other.
struct Compared {
    View view = View::newest;
    std::vector<std::uint32_t> places{};  ///< in the quantity
    std::vector<std::size_t> days{};      ///< of each; empty: one
    std::shared_ptr<const RateGroup> rates{};
    const Healthy* healthy = nullptr;
    PooledScatter pooled{};
    double freedom = 0;

    std::size_t days_of(std::size_t i) const { return days.empty() ? 1 : days[i]; }
    double distance(LogRate rate, std::size_t i) const { return rates->distance(rate, i, pooled, freedom); }
};

class QuantityJudge {
  public:
    QuantityJudge(NodeQuantity& quantity, CeilingFinding& ceiling, std::vector<Member>& members, GroupTests& tests);

    /// Null for fewer than `fewest_compared` nodes.
    const RateGroup* all() const { return all_->size() < fewest_compared ? nullptr : all_.get(); }
    const LogRate& newest(std::size_t k) const { return all_->rate(k); }
    std::vector<Compared>& compared() { return compared_; }
    const NodeQuantity& quantity() const { return quantity_; }

    /// Divides the members into populations, and makes what is compared. `chance`: of two populations in a healthy group.
    void divide(double chance);

    void test(const TailsOfViews& tails, bool is_mean);

    /// Lower bounds: among the rates of the others, or where these are too few among each other. The places that are judged.
    void test_bounds(std::vector<std::size_t>& judged);

  private:
    static LogRate rate_of(const MemberRate& bound) { return {std::log(bound.rate->value), 0}; }

    void find_day_variance();

    void add(std::uint32_t place, Finding finding, double median, std::string reason);

    void add_populations(const std::vector<std::uint32_t>& lower, const std::vector<std::uint32_t>& upper);

    void compare(std::vector<std::uint32_t> places);

    void add_compared(View view, std::vector<std::uint32_t> places, std::vector<std::size_t> days,
                      std::shared_ptr<const RateGroup> rates);

    std::vector<double> numbers_of_days(const std::vector<std::uint32_t>& places) const;

    /// The means over days, of the nodes that have as many days as most or more.
    void compare_means(const std::vector<std::uint32_t>& places);

    /// The slower half of the last days, of nodes that have as many as most.
    void compare_slower_days(const std::vector<std::uint32_t>& places);

    /// The ends of the interval of a member's newest rate.
    std::pair<double, double> interval(std::size_t k) const;

    double usual_spec(const Compared& some) const;

    bool is_implausible(const Compared& some, std::size_t i, double spec, const Tails& tails);

    void test_one(const Compared& some, std::size_t i, const Tails& tails, bool is_mean);

    double half_of(const Compared& some, std::size_t i) const;

    /// The days before the newest, each by itself among the nodes' newest rates.
    void add_other_days(const Compared& some, std::size_t i, const Tails& tails, LowRate& low) const;

    static constexpr double normal_95 = 1.96;
    const NodeQuantity& quantity_;
    CeilingFinding& ceiling_;
    std::vector<Member>& members_;
    GroupTests& tests_;
    std::optional<double> day_variance_{};
    std::shared_ptr<const RateGroup> all_;  ///< with the difference from day to day, where it is known
    std::vector<Compared> compared_{};
};

}  // namespace roof::analysis
