// How far from the others a healthy machine lies by chance, when middle and scatter are those of the others and so uncertain themselves.
// By simulation: no cut-off comes from a textbook. Scatter with long tails is a mixture, weighted by what the upper side shows.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace roof::analysis {

/// Forms of scatter, the first normal: Student's of these degrees of freedom, and normal scatter of which a share of the values scatters by
/// several times as much.
inline constexpr std::array<double, 7> tail_degrees{20, 10, 6, 4.5, 3.5, 2.75, 2.25};
inline constexpr std::array<std::pair<double, double>, 4> tail_shares{{{0.01, 4}, {0.01, 10}, {0.05, 4}, {0.05, 10}}};

/// The weight of each form.
using Tails = std::array<double, 1 + tail_degrees.size() + tail_shares.size()>;
inline constexpr Tails normal_tails{1};

/// What the scatter of the other quantities says about that of one: as much as `freedom` degrees of freedom of the variance `variance`.
struct PooledScatter {
    double variance = 0;
    double freedom = 0;    ///< 0: the others say nothing
    double certainty = 0;  ///< degrees of freedom of `variance` itself
};

/// Middles and variances of simulated groups of n - 1 machines of unit scatter.
struct SimulatedGroups {
    std::vector<std::pair<double, double>> middle_and_variance;
    double freedom = 0;   ///< the degrees of freedom of a variance with the same scatter of its logarithm
    double mean_log = 0;  ///< of the variances
    double largest = 0;   ///< 99% are smaller

    explicit SimulatedGroups(std::size_t n);
};

/// The distances z of healthy machines, from the middle of the n - 1 others in standard deviations as they are estimated.
class Healthy {
  public:
    /// `pooled`: what is mixed into the estimated variance, by its degrees of freedom.
    Healthy(const SimulatedGroups& groups, const PooledScatter& pooled);

    /// The chance that a healthy machine lies at `z` or lower; 0.5 for z above 0.
    double chance(double z, const Tails& tails = normal_tails) const;
    /// The distance, below 0, whose chance is this.
    double distance(double chance, const Tails& tails = normal_tails) const;

    /// The logarithms of the chances, by each form, of a distance of this size on its side: of a healthy machine, and of one of which a
    /// thirtieth or a third of the quantities are slow, each by any factor.
    struct Likelihood {
        Tails healthy{};
        Tails slow_in_few{};
        Tails slow_in_many{};
    };
    const Likelihood& log_likelihood(double distance) const;

  private:
    std::array<std::vector<double>, std::tuple_size_v<Tails>> log_chances_;  ///< at the places of the table
    std::vector<Likelihood> bins_;
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

/// Weighs the forms of scatter by the distances of all members of a group, for each member without its own low ones.
///
/// Nothing makes a machine faster, so what lies high is healthy. What lies low is scatter too, unless its member is slow, which is one of twenty
/// beforehand: several low rates of one member are a slow machine sooner than long tails, single ones of many members are long tails.
class TailCounts {
  public:
    explicit TailCounts(std::size_t members) : sides_(members) {}

    /// `z`: of one quantity of the member.
    void add(std::size_t member, double z, const Healthy& healthy);
    /// For each member. `before`: for each, the weights that hold without any count.
    std::vector<Tails> weights(const std::vector<Tails>& before) const;

  private:
    struct Sides {
        Tails upper{};
        Healthy::Likelihood lower{};
    };
    std::vector<Sides> sides_;
};

/// What holds before a fleet shows its tails.
Tails tails_before();

/// Derivatives of ln Gamma to 1e-4 of their value, for x above 0, and the x whose trigamma is `y`: of the mean and scatter of the logarithm of a
/// variance.
double digamma(double x);
double trigamma(double x);
double inverse_trigamma(double y);

}  // namespace roof::analysis
