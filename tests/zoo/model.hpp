// A simulated machine as numbers: its caches, rates, latencies, clock and neighbours, drawn by a seed within the
// limits. What it can do follows from these by arithmetic alone; it knows nothing of how it is measured.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "tests/zoo/kinds.hpp"
#include "tests/zoo/random.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace roof::zoo {

struct Cache {
    double bytes = 0;    ///< its edge, of one core; half of the lines of such a set are served farther away
    double octaves = 0;  ///< from no line to all lines served farther away
    Edges form = Edges::sharp;
    bool is_shared = false;  ///< by all cores

    /// The share of the lines served farther away, of a set in so many caches of this kind. `luck`: of the pages, 0
    /// to 1.
    double beyond(double set, int instances, double luck) const;
    /// Of one instance: the largest set without such lines, and the smallest without others.
    double first_bytes() const;
    double last_bytes() const;
};

/// Bytes per second into the core's first cache, and back out of it.
struct Supply {
    double read = 0;
    double write = 0;
};

/// Seconds of a thread by what limits them: the core with its private caches, a shared cache, memory.
struct Parts {
    double core = 0;
    double shared = 0;
    double memory = 0;

    double sum() const { return core + shared + memory; }
    Parts operator*(double factor) const { return {core * factor, shared * factor, memory * factor}; }
    Parts& operator+=(const Parts& other);
};

/// Bytes that enter and leave the first cache, for each byte of one array; of a store that bypasses it, those that
/// leave.
struct Traffic {
    double in = 0;
    double out = 0;
    double bypass = 0;
    double counted = 0;  ///< by the instructions
};

Traffic traffic_of(const std::string& operation, bool allocates);

struct Model {
    const Kind* kind = nullptr;
    std::uint64_t seed = 0;
    int cores = 1;
    std::vector<Cache> caches;
    /// Bytes per second of one thread in the first cache, by operation.
    std::map<std::string, double, std::less<>> first;
    std::vector<Supply> alone;     ///< of each level beyond the first, memory last: to one thread
    std::vector<Supply> together;  ///< to all cores together
    double nontemporal = 0;        ///< bytes per second of stores that bypass the caches: one thread
    double nontemporal_together = 0;
    bool allocates_on_write = true;
    std::vector<double> latency;  ///< seconds, of each level, memory last
    double small_pages = 1;       ///< rate of small pages beyond the private caches, as a share
    std::map<std::string, double, std::less<>> flops_per_lane;  ///< per clock, by operation
    double widest_lanes = 1;  ///< share of the lanes of AVX-512 that work in one clock
    double hertz = 0;
    double wide_clock = 1;  ///< under AVX-512, as a share
    bool shared_follows_clock = false;
    double slow_core = 1;  ///< rate of every second core, as a share
    double noise_near = 0, noise_shared = 0, noise_memory = 0;
    double round_noise_shared = 0, round_noise_memory = 0;
    double slow_rows = 0;
    double marked_by_chance = 0;
    double misread_rows = 0;
    // Neighbours.
    double duty = 0;
    double burst = 0;          ///< mean seconds
    double sibling_takes = 0;  ///< share of the core
    double second_rate_takes = 0;
    bool second_rate_of_cache = false;  ///< the last shared cache has two rates as well
    double quota = 0;                   ///< processors; 0: none
    double clock_step = 0, clock_step_seconds = 0, clock_step_duty = 0;
    double clock_drift = 0, clock_drift_seconds = 0, clock_drift_phase = 0;
    // Events.
    double change_in = 0;  ///< of the looks: the share after which it falls
    double change_at = 0;  ///< seconds of that look
    double changes_by =
        1;  ///< rates, or the clock, after it; of `leaves` and `turbo` before it; of `bucket` when it is empty
    double changes_clock = 1;  ///< of `migration`
    double bucket = 0;         ///< seconds of memory's traffic
    double slow_loops = 0;     ///< share of makings
    double rested_clock = 1;   ///< after a rest, as a share
    double clock_rises = 0;    ///< seconds of work until it is whole again
    double cache_held = 1;     ///< share of the last cache while a neighbour works
    Machine machine;           ///< as it reports itself

    std::size_t levels() const { return caches.size() + 1; }
    /// "L1", …, "DRAM".
    std::string level_name(std::size_t level) const;
    /// Hardware threads of each core that are measured.
    int threads_of_core() const { return kind->has_siblings() ? 2 : 1; }
    /// That the machine reports.
    int threads_of_reported_core() const { return kind->cores == Cores::hidden_siblings ? 1 : threads_of_core(); }
    /// Those that are measured.
    std::set<int> thread_counts() const
    {
        std::set<int> counts{1, cores * threads_of_core()};
        if (kind->cores != Cores::hidden_siblings) counts.insert(cores);
        return counts;
    }
    int instances(std::size_t cache, int threads) const
    {
        return caches[cache].is_shared ? 1 : std::min(threads, cores);
    }
    /// The edge of a cache for all threads together.
    double edge(std::size_t cache, int threads) const { return caches[cache].bytes * instances(cache, threads); }
    bool is_private(std::size_t level) const { return level < caches.size() && !caches[level].is_shared; }

    /// The share of a set's lines that each level serves; the sum is 1. `held`: the share of the last cache that is
    /// left to the set.
    std::vector<double> served(double set, int threads, double luck = 0.5, double held = 1) const;
    /// Seconds for a byte of one thread out of a level, with so many threads at work, on a core of the first kind.
    Parts byte_from(std::size_t level, const std::string& operation, int threads) const;
    /// The same of a mixture: the sum of lines times their cost.
    Parts byte_of(double set, const std::string& operation, int threads, double luck = 0.5, double held = 1) const;
    /// Seconds for a load that waits for the one before.
    Parts chase_of(double set, double luck = 0.5, double held = 1) const;
    Parts chase_from(std::size_t level) const;  ///< the same, out of one level
    /// Rate of a thread's core, as a share of the first one's.
    double core_rate(int thread) const { return kind->cores == Cores::two_kinds && thread % 2 == 1 ? slow_core : 1; }
    /// FLOPs per second of one core of the first kind.
    double flops(const std::string& operation, const std::string& isa, const std::string& precision) const;

    // The truth at the clock `hertz`, of all threads together.
    double bandwidth(std::size_t level, const std::string& operation, int threads) const;
    double loads_waiting(std::size_t level) const { return 1 / latency[level]; }
    double arithmetic(const std::string& operation, const std::string& isa, const std::string& precision, int threads,
                      bool packs_cores) const;
    /// How much of a level's time follows the clock, 0 or 1.
    bool follows_clock(std::size_t level) const;
};

Model draw(const Kind& kind, std::uint64_t seed);

}  // namespace roof::zoo
