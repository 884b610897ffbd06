// How far from the others a healthy machine lies by chance, when median and scatter are those of the others and so uncertain themselves.
// By simulation: no cut-off comes from a textbook. Scatter with long tails is a mixture, weighted by what the upper side shows.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace roof::analysis {

/// The tails that scatter may have: normal, and Student's of these degrees of freedom.
inline constexpr std::array<double, 8> tail_degrees{0, 20, 10, 6, 4.5, 3.5, 2.75, 2.25};  // 0: normal

/// The weight of each of `tail_degrees`.
using Tails = std::array<double, tail_degrees.size()>;
/// Normal scatter alone.
inline constexpr Tails normal_tails{1, 0, 0, 0, 0, 0, 0, 0};

/// What the scatter of the other quantities says about that of one: as much as `freedom` degrees of freedom of the variance `variance`.
struct PooledScatter {
    double variance = 0;
    double freedom = 0;    ///< 0: the others say nothing
    double certainty = 0;  ///< degrees of freedom of `variance` itself
};

/// Medians and variances of simulated groups of n - 1 machines of unit scatter.
struct SimulatedGroups {
    std::vector<std::pair<double, double>> median_and_variance;
    double freedom = 0;   ///< the degrees of freedom of a variance with the same scatter of its logarithm
    double mean_log = 0;  ///< of the variances
    double largest = 0;   ///< 99% are smaller

    explicit SimulatedGroups(std::size_t n);
};

/// The distances z of healthy machines, from the median of the n - 1 others in standard deviations as they are estimated.
class Healthy {
  public:
    /// `pooled`: what is mixed into the estimated variance, by its degrees of freedom.
    Healthy(const SimulatedGroups& groups, const PooledScatter& pooled);

    /// The chance that a healthy machine lies at `z` or lower; 0.5 for z above 0.
    double chance(double z, const Tails& tails = normal_tails) const;
    /// The distance, below 0, whose chance is this.
    double distance(double chance, const Tails& tails = normal_tails) const;

    /// The logarithms of the chances, by each of `tail_degrees`, that a machine lies as far off as this, on its side. Distances are counted in
    /// bins that widen; what is near counts as one.
    const Tails& log_likelihood(double distance) const;

  private:
    std::array<std::vector<double>, tail_degrees.size()> log_chances_;  ///< at the places of the table
    std::vector<Tails> bins_;
};

/// The simulated groups and tables made so far, by the number of machines and what is pooled. Numbers that differ by little share one.
class HealthyTables {
  public:
    const SimulatedGroups& groups(std::size_t n);
    /// `pooled` is rounded to a table's.
    const Healthy& healthy(std::size_t n, const PooledScatter& pooled);

  private:
    std::map<std::size_t, SimulatedGroups> groups_;
    std::map<std::array<int, 3>, std::unique_ptr<Healthy>> tables_;
};

/// What a member is judged by: the weights of tails, and the distance that it must pass.
struct TailsOfOthers {
    Tails weights = normal_tails;
    double least = 0;
};

/// Weighs tails by the distances of all members of a group, for each member by those of the others.
///
/// Nothing makes a machine faster, so the upper side is healthy and counts as it is. Where all distances are few, so that it may look normal
/// by luck, the lower side of the other members counts too, but for the lowest ones: what is slow must not hide what else is. Few distances
/// do not tell how long tails are. If theirs may be long, what is slow must be 2.5 times as far off as any of them.
class TailCounts {
  public:
    explicit TailCounts(std::size_t members) : upper_(members), lower_(members) {}

    /// `z`: of one quantity of the member.
    void add(std::size_t member, double z, const Healthy& healthy);
    /// For each member. `before`: for each, the weights that hold without any count.
    std::vector<TailsOfOthers> weights(const std::vector<TailsOfOthers>& before) const;

  private:
    struct Side {
        Tails log_likelihood{};
        double farthest = 0;
    };
    std::vector<Side> upper_;
    std::vector<Side> lower_;
    std::size_t count_ = 0;
};

/// What holds before a fleet shows its tails.
Tails tails_before();

/// Derivatives of ln Gamma, and the x whose trigamma is `y`: of the mean and scatter of the logarithm of a variance.
double trigamma(double x);
double digamma(double x);
double inverse_trigamma(double y);

}  // namespace roof::analysis
