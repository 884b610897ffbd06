// A calibration beside the truth of its machine. limits.hpp says what the truth is.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "tests/zoo/calibration.hpp"

#include <array>
#include <string>
#include <vector>

namespace roof::zoo {

/// Ceilings that are judged together: arithmetic; private caches; shared caches and memory; latencies.
enum class Group { arithmetic, near, far, latency };
constexpr EnumNames<Group, 4> names_of(Group)
{
    return {
        "group",
        {{{Group::arithmetic, "arithmetic"}, {Group::near, "near"}, {Group::far, "far"}, {Group::latency, "latency"}}}};
}
inline constexpr std::array<Group, 4> groups{Group::arithmetic, Group::near, Group::far, Group::latency};

/// A rate at the mean clock. `low` is below `alone` only where less than a tenth of the samples were undisturbed.
struct Truth {
    double low = 0;
    double alone = 0;
    double fastest = 0;  ///< alone, at the fastest clock
};

struct JudgedCeiling {
    std::string name;
    Group group = Group::near;
    Steadiness state = Steadiness::at_least;
    Truth truth;
    double value = 0;
    double low = 0;
    double high = 0;
    bool holds = false;  ///< the interval meets the truth; of a lower bound: it is not above

    double half_width() const { return (high - low) / 2 / value; }
    /// The value over the nearest truth; 1 within it.
    double over_truth() const;
    bool is_above() const;  ///< of a lower bound
    bool is_steady() const { return state == Steadiness::steady; }
};

struct JudgedEdge {
    std::string name;
    int threads = 1;
    double found = 0;  ///< bytes
    double truth = 0;
    bool is_right = false;
};

struct Verdict {
    bool has_right_levels = true;   ///< number and names, with every number of threads
    bool has_false_level = false;   ///< more levels than there are, with any number of threads
    std::vector<JudgedEdge> edges;  ///< that are sharper than half an octave, where the levels are right
    std::vector<JudgedCeiling> ceilings;
};

Verdict judge(const Calibration& calibration);

/// The truth of a rate that neighbours left these shares of, sample by sample.
Truth truth_of(double rate, double mean_clock, double fastest_clock, std::vector<float> kept);

}  // namespace roof::zoo
