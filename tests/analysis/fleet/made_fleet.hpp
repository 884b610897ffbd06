// Made-up fleets: digests of equal nodes whose rates scatter, with intervals of five rounds.
#pragma once

#include "analysis/fleet/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace roof::tests {

struct MadeFleet {
    std::size_t nodes = 100;
    std::size_t ceilings = 20;
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
    return {std::move(name), "B/s", "steady", rate, rate * std::exp(-half), rate * std::exp(half), 0, 30, rounds};
}

/// Healthy nodes: rates scatter by 1% between nodes, and by 0.5% between rounds.
inline analysis::Fleet make_fleet(const MadeFleet& made)
{
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    analysis::Fleet fleet;
    for (std::size_t i = 0; i < made.nodes; ++i) {
        analysis::Digest digest{.node = fmt::format("n{:05}", i),
                                .kind = "made-26cpu",
                                .plan = "p",
                                .revision = "r",
                                .time = "2026-11-22T00:00:00Z"};
        for (std::size_t c = 0; c < made.ceilings; ++c)
            digest.ceilings.push_back(made_rate(c < made.names.size() ? made.names[c] : fmt::format("ceiling {}", c),
                                                1e11 * static_cast<double>(c + 1), 0.01 * normal(generator), 0.005,
                                                generator));
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

}  // namespace roof::tests
