// Plateaus on synthetic curves: the true levels are found, and none between them, for any width of the descent to
// memory.
#include "ert/method/ceilings/plateaus.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace roof;

namespace {

constexpr double KiB = 1024;
constexpr double MiB = 1024 * KiB;

struct Level {
    double capacity;
    double rate;
};

struct Curve {
    std::vector<Level> caches;
    double memory_rate = 40e9;
    double way_down = 0.5;  ///< octaves from the end of the last cache to memory
    double noise = 0.01;    ///< standard deviation, as a share

    double at(double bytes) const
    {
        double seconds = 1 / memory_rate;
        for (auto level = caches.rbegin(); level != caches.rend(); ++level) {
            const double width = level == caches.rbegin() ? way_down : 0.5;
            const double missed = std::clamp(std::log2(bytes / level->capacity) / width, 0.0, 1.0);
            seconds = missed * seconds + (1 - missed) / level->rate;
        }
        return 1 / seconds;
    }
};

const std::vector<Level> one_thread{{48 * KiB, 500e9}, {1 * MiB, 240e9}, {16 * MiB, 120e9}};
const std::vector<Level> two_threads{{64 * KiB, 900e9}, {2 * MiB, 380e9}, {14 * MiB, 240e9}};

/// All samples had this rate.
RatePoint alike(double working_set, double rate)
{
    return {working_set, rate, rate};
}

std::vector<RatePoint> sweep(const Curve& curve, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> disturbance(0, curve.noise);
    std::vector<RatePoint> points;
    for (double bytes = 8 * KiB; bytes < 256 * MiB; bytes *= 2)
        for (const double size : {bytes, 1.5 * bytes})
            points.push_back(alike(size, curve.at(size) * std::exp(disturbance(random))));
    return points;
}

std::vector<Plateau> plateaus_of(const std::vector<RatePoint>& loads)
{
    return find_plateaus(std::vector<RateCurve>{{loads}});
}

/// Each level of the curve has its plateau, which ends near the level's end, and there is no other plateau.
bool is_right(const std::vector<Plateau>& found, const Curve& curve)
{
    if (found.size() != curve.caches.size() + 1) return false;
    for (std::size_t i = 0; i < curve.caches.size(); ++i) {
        const double end = found[i].flat.high;
        if (end < curve.caches[i].capacity / 2.5 || end > curve.caches[i].capacity * 1.7) return false;
    }
    return found.back().flat.low > curve.caches.back().capacity;
}

/// One thread while other tenants filled the shared cache: the rate falls from 8 MiB on, and the rates of memory
/// scatter too much for a plateau.
struct Uncertain {
    double working_set;
    double rate;
    double uncertainty;  ///< half the width of its interval, as a share
};

const std::vector<Uncertain> met{
    {8 * KiB, 469e9, 0.098},  {12 * KiB, 479e9, 0.018},  {16 * KiB, 476e9, 0.009},  {24 * KiB, 478e9, 0.003},
    {32 * KiB, 476e9, 0.013}, {48 * KiB, 481e9, 0.008},  {52 * KiB, 171e9, 0},      {60 * KiB, 180e9, 0.163},
    {64 * KiB, 181e9, 0.034}, {96 * KiB, 181e9, 0.031},  {128 * KiB, 180e9, 0.017}, {192 * KiB, 178e9, 0.014},
    {256 * KiB, 184e9, 0.03}, {384 * KiB, 176e9, 0.159}, {512 * KiB, 236e9, 0.233}, {768 * KiB, 182e9, 0.042},
    {844 * KiB, 181e9, 0.23}, {932 * KiB, 182e9, 0.135}, {1 * MiB, 143e9, 0.01},    {1.5 * MiB, 119e9, 0.029},
    {2 * MiB, 119e9, 0.016},  {3 * MiB, 118e9, 0.013},   {4 * MiB, 117e9, 0.008},   {6 * MiB, 119e9, 0.015},
    {8 * MiB, 116e9, 0.035},  {9.6e6, 91.4e9, 0.113},    {11e6, 88.1e9, 0.255},     {12 * MiB, 79.8e9, 0.107},
    {16 * MiB, 74.7e9, 0.37}, {24 * MiB, 12.8e9, 0},     {32 * MiB, 22.1e9, 0.208}, {64 * MiB, 15e9, 0.172},
    {128 * MiB, 13e9, 0.167}, {256 * MiB, 25e9, 0.246},
};

/// Moves each rate at random by its own uncertainty.
std::vector<RatePoint> moved(const std::vector<Uncertain>& points, double share, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> step(0, share);
    std::vector<RatePoint> result;
    for (const Uncertain& point : points)
        result.push_back(
            alike(point.working_set, point.rate * (share > 0 ? std::exp(point.uncertainty * step(random)) : 1)));
    return result;
}

}  // namespace

TEST_CASE("each of a thousand noisy sweeps shows the true levels and no other")
{
    std::vector<Curve> curves;
    for (const auto& caches : {one_thread, two_threads})
        for (const double way_down : {0.5, 1.5, 2.5})
            for (const double noise : {0.01, 0.03}) curves.push_back({caches, 40e9, way_down, noise});
    int wrong = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        const Curve& curve = curves[seed % curves.size()];
        const std::vector<RatePoint> points = sweep(curve, seed);
        const bool right = is_right(plateaus_of(points), curve);
        if (!right) UNSCOPED_INFO("seed " << seed << ", noise " << curve.noise << ", way down " << curve.way_down);
        wrong += right ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("points that happen to agree on a wide way down to memory are a level in at most one of 300 rough sweeps")
{
    const Curve curve{one_thread, 40e9, 2.5, 0.06};
    int phantoms = 0;
    for (unsigned seed = 0; seed < 300; ++seed) phantoms += plateaus_of(sweep(curve, seed)).size() > 4 ? 1 : 0;
    CHECK(phantoms <= 1);
}

TEST_CASE("a level of one octave between two others is found in a quiet sweep")
{
    const Curve curve{{{48 * KiB, 500e9}, {1 * MiB, 240e9}, {3.1 * MiB, 120e9}}, 40e9, 0.5, 0.005};
    const std::vector<RatePoint> points = sweep(curve, 1);
    CHECK(plateaus_of(points).size() == 4);
}

TEST_CASE("an outlier's span does not make close sizes a level")
{
    // Two threads while others fill the same cache: sizes were added between its end and memory, and their rates
    // scatter.
    const std::vector<Uncertain> rough{
        {16 * KiB, 890e9, 0.1},  {32 * KiB, 900e9, 0.1},  {64 * KiB, 900e9, 0.1},  {128 * KiB, 890e9, 0.1},
        {256 * KiB, 400e9, 0.1}, {512 * KiB, 390e9, 0.1}, {1 * MiB, 395e9, 0.1},   {1.5 * MiB, 380e9, 0.1},
        {3 * MiB, 240e9, 0.1},   {4 * MiB, 238e9, 0.1},   {6 * MiB, 235e9, 0.1},   {8 * MiB, 240e9, 0.1},
        {12 * MiB, 238e9, 0.1},  {16 * MiB, 206e9, 0.15}, {24 * MiB, 216e9, 0.2},  {27.7e6, 156e9, 0.2},
        {30.5e6, 143e9, 0.2},    {32 * MiB, 161e9, 0.25}, {64 * MiB, 66.7e9, 0.2}, {128 * MiB, 47.7e9, 0.1},
        {256 * MiB, 58e9, 0.15},
    };
    CHECK(plateaus_of(moved(rough, 0, 0)).size() == 4);
}

TEST_CASE("a shared cache ends where its rate falls before scattered memory, and the descent is no level")
{
    const std::vector<Plateau> found = plateaus_of(moved(met, 0, 0));
    REQUIRE(found.size() == 4);
    CHECK(found[2].flat.high >= 8 * MiB);
    CHECK(found[2].flat.high <= 16 * MiB);
    CHECK(found[3].flat.high == 256 * MiB);
    int phantoms = 0;
    for (unsigned seed = 0; seed < 300; ++seed) phantoms += plateaus_of(moved(met, 0.3, seed)).size() > 4 ? 1 : 0;
    CHECK(phantoms <= 10);  // one in thirty; latencies and other thread counts then contradict it
}

TEST_CASE("latencies separate levels whose loads differ by a twentieth, and loads place their edge")
{
    // 32 KiB at 1 ns, 1 MiB at 4 ns, 32 MiB at 14 ns, memory at 100 ns; loads of 240, 120, 114 and 30 GB/s.
    RateCurve loads;
    RateCurve latencies{{}, 0.7};
    for (double bytes = 8 * KiB; bytes <= 256 * MiB; bytes *= 2)
        for (const double size : {bytes, 1.5 * bytes}) {
            const bool in_l1 = size <= 32 * KiB;
            const bool in_l2 = size <= 1 * MiB;
            const bool in_l3 = size <= 32 * MiB;
            loads.points.push_back(alike(size, in_l1 ? 240e9 : in_l2 ? 120e9 : in_l3 ? 114e9 : 30e9));
            latencies.points.push_back(alike(size, in_l1 ? 1e9 : in_l2 ? 0.25e9 : in_l3 ? 0.0714e9 : 0.01e9));
        }
    CHECK(plateaus_of(loads.points).size() == 3);
    const std::vector<Plateau> found = find_plateaus(std::vector{loads, latencies});
    REQUIRE(found.size() == 4);
    for (const auto& [level, capacity] : {std::pair{0, 32 * KiB}, {1, 1 * MiB}, {2, 32 * MiB}}) {
        CHECK(found[static_cast<std::size_t>(level)].flat.high == capacity);
        CHECK(found[static_cast<std::size_t>(level)].edge >= capacity);
        CHECK(found[static_cast<std::size_t>(level)].edge <= 1.5 * capacity);
    }
    CHECK(found[3].edge == 0);
}

TEST_CASE("a rate that only some sets of a level met is no level")
{
    // 1 MiB of cache at 200 GB/s before memory, whose rate is 40 GB/s and at times 60. Three samples of the sets up to
    // 16 MiB met 60.
    std::vector<RatePoint> loads;
    for (double bytes = 8 * KiB; bytes <= 256 * MiB; bytes *= 2)
        loads.push_back(bytes <= 1 * MiB    ? alike(bytes, 200e9)
                        : bytes <= 16 * MiB ? RatePoint{bytes, 60e9, 40e9}
                                            : alike(bytes, 40e9));
    const std::vector<Plateau> found = plateaus_of(loads);
    REQUIRE(found.size() == 2);
    CHECK(found[0].flat.high == 1 * MiB);
    CHECK(found[1].flat.high == 256 * MiB);
    // Where their typical rate is higher too, they are one.
    for (RatePoint& point : loads) point.typical = point.rate;
    CHECK(plateaus_of(loads).size() == 3);
}

TEST_CASE("an edge that loads alone show is none where latencies show the contrary")
{
    // Memory from 2 MiB on. Its largest sets were loaded beside traffic, and chased without.
    std::vector<RatePoint> loads;
    std::vector<RatePoint> latencies;
    for (double bytes = 8 * KiB; bytes <= 256 * MiB; bytes *= 2) {
        loads.push_back(alike(bytes, bytes <= 1 * MiB ? 200e9 : bytes <= 32 * MiB ? 40e9 : 20e9));
        latencies.push_back(alike(bytes, bytes <= 1 * MiB ? 200e6 : 10e6));
    }
    const auto number_with = [&](const std::vector<RatePoint>& chased) {
        return find_plateaus(std::vector<RateCurve>{{loads}, {chased, 0.7}}).size();
    };
    CHECK(number_with(latencies) == 2);
    for (RatePoint& point : latencies)
        if (point.working_set > 32 * MiB) point = alike(point.working_set, 5e6);
    CHECK(number_with(latencies) == 3);
    // A chase of one larger set that was as fast as the smaller ones shows that all of them can be.
    latencies.back() = alike(256 * MiB, 10e6);
    CHECK(number_with(latencies) == 2);
}

TEST_CASE("where the number of edges is known, levels that differ by a twentieth are separated without latencies")
{
    std::vector<RatePoint> loads;
    for (double bytes = 8 * KiB; bytes <= 256 * MiB; bytes *= 2)
        for (const double size : {bytes, 1.5 * bytes})
            loads.push_back(alike(size, size <= 64 * KiB   ? 480e9
                                        : size <= 2 * MiB  ? 240e9
                                        : size <= 32 * MiB ? 228e9
                                                           : 40e9));
    const std::vector<WorkingSets> edges{{32 * KiB, 96 * KiB}, {1 * MiB, 3 * MiB}, {30 * MiB, 90 * MiB}};
    const std::vector<Plateau> found = find_plateaus(std::vector<RateCurve>{{loads}}, edges);
    REQUIRE(found.size() == 4);
    CHECK(found[1].flat.high == 2 * MiB);
    CHECK(found[2].flat.low == 3 * MiB);
}
