// What is compared of a group's nodes: each ceiling, and the mean of the ceilings of one kind of a device (memory, cache, compute, link, latency),
// which shows a small difference that all of them have.
#pragma once

#include "analysis/fleet/members.hpp"
#include "analysis/fleet/robust.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace roof::analysis {

struct MemberRate {
    std::uint32_t member = 0;
    const DigestRate* rate = nullptr;
};

/// A ceiling, or the weighted mean of several, on the members that have it; on the scale of ln.
struct NodeQuantity {
    std::string name{};
    std::string unit{};
    std::size_t joined = 1;  ///< ceilings
    double material = 0;     ///< ln of the ratio that matters, below 0
    /// With a rate that is no lower bound, rising.
    std::vector<std::uint32_t> members{};
    std::vector<LogRate> newest{};           ///< until its judge takes them
    std::vector<const DigestRate*> rates{};  ///< theirs; empty for a mean
    /// Of each the days that have it, the newest last; empty where no member has several days.
    std::vector<std::vector<LogRate>> days{};
    std::vector<MemberRate> bounds{};
    std::vector<std::uint32_t> without{};  ///< members whose digest lacks it
};

/// The ceilings that at least half of the members have, by name.
std::vector<NodeQuantity> ceilings_of(const std::vector<Member>& members);

/// "cpu memory" of "cpu bandwidth DRAM load threads=26"; empty for a name of another form.
std::string kind_of_ceiling(const std::string& name);

/// The means over the ceilings of each kind that has two or more with `fewest_compared` nodes. `groups`: of each ceiling, or null. Each
/// ceiling counts by one over its variance; for a member that lacks some, the variance of the rest is larger.
std::vector<NodeQuantity> means_of(const std::vector<NodeQuantity>& ceilings,
                                   const std::vector<const RateGroup*>& groups, std::size_t members);

/// The half-width of the interval on the scale of ln, over the factor of its rounds (half_width_in_errors), is the standard error.
LogRate log_rate(const DigestRate& rate);

/// ln(1 - material): a rate this far below the median or farther matters.
double material_log();

}  // namespace roof::analysis
