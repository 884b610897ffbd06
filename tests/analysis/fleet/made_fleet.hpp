// Made-up fleets: digests of equal nodes whose rates scatter, with intervals of five rounds; on several days; with links between them.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace roof::tests {

struct MadeFleet {
    std::size_t nodes = 100;
    std::size_t ceilings = 20;
    double scatter = 0.01;  ///< between nodes, relative
    double daily = 0;       ///< of a node from day to day, relative
    double noise = 0.005;   ///< of a round, relative
    int freedom = 0;        ///< degrees of Student's distribution of the scatter; 0: normal
    int daily_freedom = 0;  ///< the same of the days
    std::string day = "2026-11-22";
    unsigned seed = 1;
    std::vector<std::string> names{};  ///< of ceilings; further ones are "ceiling 3"
};

/// Names of a CPU's ceilings: eight of memory, eight of caches, eight of compute.
inline std::vector<std::string> cpu_names()
{
    std::vector<std::string> names;
    for (const char* access : {"load", "store", "copy", "triad", "update", "accumulate", "store_nt", "copy_nt"})
        names.push_back(fmt::format("cpu bandwidth DRAM {} threads=26", access));
    for (const char* level : {"L1", "L2"})
        for (const char* access : {"load", "store", "copy", "triad"})
            names.push_back(fmt::format("cpu bandwidth {} {} threads=26", level, access));
    for (const char* isa : {"sse", "avx2"})
        for (const char* precision : {"fp64", "fp32"})
            for (const char* mix : {"fma", "add"})
                names.push_back(fmt::format("cpu compute core {} {} {} threads=26", mix, precision, isa));
    return names;
}

/// The rate with Student's interval that five rounds about `usual` show. `x`: ln of the true rate to `usual`.
inline analysis::DigestRate made_rate(std::string name, double usual, double x, double noise,
                                      std::mt19937_64& generator)
{
    constexpr int rounds = 5;
    constexpr double student = 3.495;  ///< 98.75%, 4 degrees of freedom
    std::normal_distribution<double> normal;
    double sum = 0;
    double squares = 0;
    for (int r = 0; r < rounds; ++r) {
        const double round = x + noise * normal(generator);
        sum += round;
        squares += round * round;
    }
    const double mean = sum / rounds;
    const double half = student * std::sqrt(std::max(0.0, squares / rounds - mean * mean) / (rounds - 1));
    const double rate = usual * std::exp(mean);
    return analysis::digest_rate({std::move(name), "B/s", "steady"}, rate, rate * std::exp(-half),
                                 rate * std::exp(half), 30, 0, rounds);
}

/// Healthy nodes, on each day once. The scatter between nodes is that of `seed`, the noise that of seed and days.
inline analysis::Fleet make_fleet(const MadeFleet& made, const std::vector<std::string>& days)
{
    std::mt19937_64 generator(made.seed);
    std::normal_distribution<double> normal;
    std::student_t_distribution<double> student(std::max(made.freedom, 1));
    std::student_t_distribution<double> daily_student(std::max(made.daily_freedom, 1));
    const auto daily = [&] { return made.daily_freedom > 0 ? daily_student(generator) : normal(generator); };
    const auto scatter = [&] { return made.scatter * (made.freedom > 0 ? student(generator) : normal(generator)); };
    analysis::Fleet fleet;
    for (std::size_t i = 0; i < made.nodes; ++i) {
        std::vector<double> own;
        for (std::size_t c = 0; c < made.ceilings; ++c) own.push_back(scatter());
        for (const std::string& day : days) {
            analysis::Digest digest{.node = fmt::format("n{:05}", i),
                                    .kind = "made-26cpu",
                                    .plan = "p",
                                    .revision = "r",
                                    .time = day + "T00:00:00Z"};
            for (std::size_t c = 0; c < made.ceilings; ++c)
                digest.ceilings.push_back(
                    made_rate(c < made.names.size() ? made.names[c] : fmt::format("ceiling {}", c),
                              1e11 * static_cast<double>(c + 1), own[c] + made.daily * daily(), made.noise, generator));
            fleet.digests.push_back(std::move(digest));
        }
    }
    return fleet;
}

inline analysis::Fleet make_fleet(const MadeFleet& made)
{
    return make_fleet(made, {made.day});
}

/// Links of `nodes` nodes, `per_switch` behind each switch; all pairs, or with `permutations` that many random pairings.
struct MadeLinks {
    std::size_t nodes = 32;
    std::size_t per_switch = 8;
    std::size_t permutations = 0;
    double scatter = 0.01;  ///< between links, relative
    double noise = 0.005;
    unsigned seed = 1;
    double slow_node = 0;    ///< by how much every link of the first node is slower
    double slow_uplink = 0;  ///< every link between the nodes of the second switch and the others
    double slow_link = 0;    ///< the link between the last two nodes
};

inline analysis::Fleet make_links(const MadeLinks& made)
{
    std::mt19937_64 generator(made.seed);
    std::normal_distribution<double> normal;
    std::set<std::pair<std::size_t, std::size_t>> pairs{{made.nodes - 2, made.nodes - 1}};
    std::vector<std::size_t> order(made.nodes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t p = 0; p < made.permutations; ++p) {
        std::ranges::shuffle(order, generator);
        for (std::size_t k = 0; k + 1 < made.nodes; k += 2) pairs.insert(std::minmax(order[k], order[k + 1]));
    }
    for (std::size_t i = 0; i < made.nodes && made.permutations == 0; ++i)
        for (std::size_t j = i + 1; j < made.nodes; ++j) pairs.insert({i, j});
    const auto name = [](std::size_t i) { return fmt::format("n{:05}", i); };
    constexpr std::size_t links_of_digest = 100;
    analysis::Fleet fleet;
    for (std::size_t i = 0; i < made.nodes; ++i)
        fleet.expected.push_back({name(i), {{"switch", fmt::format("s{}", i / made.per_switch)}}});
    for (const auto& [a, b] : pairs) {
        double x = made.scatter * normal(generator);
        if (a == 0) x += std::log1p(-made.slow_node);
        if ((a / made.per_switch == 1) != (b / made.per_switch == 1)) x += std::log1p(-made.slow_uplink);
        if (a == made.nodes - 2 && b == made.nodes - 1) x += std::log1p(-made.slow_link);
        if (fleet.digests.empty() || fleet.digests.back().links.size() == links_of_digest)
            fleet.digests.push_back({.node = name(a),
                                     .kind = "made-26cpu",
                                     .plan = "network",
                                     .revision = "r",
                                     .time = "2026-11-22T00:00:00Z"});
        fleet.digests.back().links.push_back(made_rate(name(a) + " " + name(b), 3e9, x, made.noise, generator));
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
