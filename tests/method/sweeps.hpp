// Synthetic working-set sweeps with known levels.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace roof::tests {

inline constexpr double KiB = 1024;
inline constexpr double MiB = 1024 * KiB;

using Shape = std::function<double(double working_set)>;  ///< rate in B/s

/// A staircase whose edges are half an octave wide, as in caches.
inline Shape staircase(std::vector<std::pair<double, double>> capacity_and_rate, double memory_rate)
{
    return [=](double bytes) {
        double seconds_per_byte = 1 / memory_rate;
        for (auto level = capacity_and_rate.rbegin(); level != capacity_and_rate.rend(); ++level) {
            const double missed = std::clamp(2 * std::log2(bytes / level->first), 0.0, 1.0);
            seconds_per_byte = missed * seconds_per_byte + (1 - missed) / level->second;
        }
        return 1 / seconds_per_byte;
    };
}

inline const std::vector<std::pair<double, double>> three_caches{
    {48 * KiB, 450e9}, {1 * MiB, 200e9}, {32 * MiB, 100e9}};

inline Measurement row(const std::string& operation, const std::string& isa, int threads, double bytes, double rate)
{
    Measurement made;
    made.bench = "bandwidth";
    made.role = Role::bandwidth;
    made.device = "cpu";
    made.point.set("operation", operation);
    made.point.set("isa", isa);
    made.point.set("threads", std::to_string(threads));
    made.point.set("working_set", std::to_string(static_cast<long long>(bytes)));
    made.work.compulsory = made.work.no_reuse = Bytes{1e9};
    const double seconds = 1e9 / rate;
    made.seconds = {Seconds{seconds}, Seconds{0.99 * seconds}, Seconds{1.01 * seconds}, 9, 0};
    return made;
}

inline std::vector<Measurement> sweep(const Shape& shape, double noise = 0, unsigned seed = 1,
                                      const std::string& operation = "load", int threads = 1)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> disturbance(1, noise);
    std::vector<Measurement> rows;
    for (double bytes = 8 * KiB; bytes <= 512 * MiB; bytes *= 2) {
        for (const double size : {bytes, 1.5 * bytes}) {
            const double factor = noise > 0 ? disturbance(random) : 1;
            rows.push_back(row(operation, "avx512", threads, size, factor * shape(size)));
        }
    }
    return rows;
}

inline Machine machine()
{
    Machine made;
    made.devices.resize(1);
    made.devices.front().name = "cpu";
    made.devices.front().levels = {{"L1", Bytes{48 * KiB}, 2, 1},
                                   {"L2", Bytes{1 * MiB}, 2, 1},
                                   {"L3", Bytes{32 * MiB}, 1, 2},
                                   {"DRAM", Bytes{24e9}, 1, 2}};
    return made;
}

inline std::vector<std::string> names(const Ceilings& ceilings)
{
    std::vector<std::string> found;
    for (const MeasuredLevel& level : ceilings.levels) found.push_back(level.name);
    return found;
}

using Names = std::vector<std::string>;
inline const Names four_levels{"L1", "L2", "L3", "DRAM"};

inline double rate(const Ceilings& ceilings, const std::string& level, int threads = 1)
{
    const Ceiling* const found = ceilings.bandwidth("cpu", level, threads);
    REQUIRE(found != nullptr);
    return found->rate.median.value;
}

}  // namespace roof::tests
