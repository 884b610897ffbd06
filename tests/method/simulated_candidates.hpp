// Candidates of a search on simulated machines with interference. All time is simulated; each machine is drawn from a
// seed.
#pragma once

#include "ert/method/bench/search.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace roof::test {

/// What slows a machine: it alternates between two states, each of random length.
struct Slowdown {
    double duty = 0;              ///< share of the time in which it slows
    double mean_length = 1;       ///< of a slow stretch, in seconds
    std::vector<double> factors;  ///< by which it slows each candidate
    double shape =
        0;  ///< 0: lengths are exponential; else those of Pareto with this exponent; negative: always the same length
    bool is_slow = false;
    double until = 0;
};

/// A machine and its candidates. Its members are the state of one search after another.
struct SimulatedMachine {
    std::mt19937_64 random;
    double now = 0;
    std::vector<double> seconds;  ///< that each candidate takes undisturbed
    double jitter = 0.003;        ///< each run takes longer by |normal| times this
    std::vector<Slowdown> slowdowns{};
    double clock_step = 0;  ///< mean time between changes of the clock among six rates 3% apart; 0: it does not change
    double drift = 0;       ///< by so much the first second slows
    double boost = 1;       ///< the clock is so much higher until boost_end
    double boost_end = 0;
    std::vector<bool> is_wide{};  ///< lowers the clock by 13% for 2 ms after its run
    double first_run = 1;         ///< the first run of a candidate takes so many times longer

    double between(double low, double high);
    double evenly_in_log(double low, double high);
    /// Runs a candidate; returns its time.
    double run(std::size_t candidate);
    /// Lets so much time pass.
    void pause(double length);
    Clock clock()
    {
        return [this] { return Seconds{now}; };
    }
    /// Times to judge a choice by: undisturbed, or with a neighbour that leaves less than a tenth of the runs
    /// undisturbed.
    std::vector<double> true_seconds() const;

  private:
    void draw_length(Slowdown& one);
    double slowness(std::size_t candidate) const;

    double clock_ = 1;
    double clock_until_ = 0;
    double slow_until_ = 0;
    std::vector<bool> has_run_{};
};

struct Kind {
    std::string name;
    void (*disturb)(SimulatedMachine&);
};

/// 2 to 12 candidates of 50 us to 20 ms, 0.5% to 200% slower than the fastest, in random order, on a machine of the
/// kind.
SimulatedMachine draw(const Kind& kind, std::uint64_t seed);

/// By which the rules of fastest_of() and their constants were chosen, and others, by which they are judged.
const std::vector<Kind>& design_kinds();
const std::vector<Kind>& judging_kinds();

}  // namespace roof::test
