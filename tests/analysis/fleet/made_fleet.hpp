// Made-up fleets: digests of equal nodes whose rates scatter, with intervals of five rounds.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace roof::tests {

struct MadeFleet {
    std::size_t nodes = 100;
    std::size_t ceilings = 20;
    double scatter = 0.01;  ///< between nodes, relative
    double noise = 0.005;   ///< of a round, relative
    std::string day = "2026-11-22";
    unsigned seed = 1;
};

/// The rates of a node, healthy ones, as five rounds with Student's interval show them.
inline analysis::Fleet make_fleet(const MadeFleet& made)
{
    constexpr int rounds = 5;
    constexpr double student = 2.776;
    std::mt19937_64 generator(made.seed);
    std::normal_distribution<double> normal;
    analysis::Fleet fleet;
    for (std::size_t i = 0; i < made.nodes; ++i) {
        analysis::Digest digest{.node = fmt::format("n{:05}", i),
                                .kind = "made-26cpu",
                                .plan = "p",
                                .revision = "r",
                                .time = made.day + "T00:00:00Z"};
        for (std::size_t c = 0; c < made.ceilings; ++c) {
            double sum = 0;
            double squares = 0;
            const double own = made.scatter * normal(generator);
            for (int r = 0; r < rounds; ++r) {
                const double x = own + made.noise * normal(generator);
                sum += x;
                squares += x * x;
            }
            const double mean = sum / rounds;
            const double half = student * std::sqrt(std::max(0.0, squares / rounds - mean * mean) / (rounds - 1));
            const double rate = 1e11 * static_cast<double>(c + 1) * std::exp(mean);
            digest.ceilings.push_back({fmt::format("ceiling {}", c), rate, rate * std::exp(-half),
                                       rate * std::exp(half), "B/s", "steady", 30, 0});
        }
        fleet.digests.push_back(std::move(digest));
    }
    return fleet;
}

/// Makes one ceiling of one node slower: 0.1 is 10%.
inline void slow_down(analysis::Fleet& fleet, std::size_t node, std::size_t ceiling, double share)
{
    analysis::DigestRate& rate = fleet.digests.at(node).ceilings.at(ceiling);
    for (double* value : {&rate.value, &rate.low, &rate.high}) *value *= 1 - share;
}

/// The nodes with a finding.
inline std::vector<std::string> nodes_with(const analysis::FleetFindings& findings, analysis::Finding finding)
{
    std::vector<std::string> names;
    for (const analysis::FleetGroup& group : findings.groups)
        for (const analysis::NodeFinding& node : group.nodes)
            if (node.finding == finding) names.push_back(node.node);
    return names;
}

}  // namespace roof::tests
