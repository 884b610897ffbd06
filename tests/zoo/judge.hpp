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
constexpr EnumNames<Group::latency> names_of(Group)
{
    return {"group", {"arithmetic", "near", "far", "latency"}};
}
inline constexpr std::array<Group, 4> groups{Group::arithmetic, Group::near, Group::far, Group::latency};

/// The undisturbed rate at the mean clock, and no other. Where rounds differ it is that of the median round.
struct Truth {
    double alone = 0;
    double fastest = 0;  ///< at the fastest clock
    double after =
        0;  ///< what the last tenth of the last look's launches got in the median: what a run started afterwards gets
};

struct JudgedCeiling {
    std::string name;
    Group group = Group::near;
    Steadiness state = Steadiness::at_least;
    Truth truth;
    double value = 0;
    double low = 0;
    double high = 0;
    bool holds = false;        ///< the interval meets the truth; of a lower bound: it is not above
    bool holds_after = false;  ///< the interval meets what a run started afterwards gets
    bool is_seen = false;      ///< at least three samples were undisturbed
    bool is_wrong = false;     ///< of a kind with an event: steady, and off by 5% after it

    double half_width() const { return (high - low) / 2 / value; }
    double over_truth() const { return value / truth.alone; }
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

/// The truth of a rate that neighbours left these shares of, sample by sample, in so many looks.
Truth truth_of(double rate, double mean_clock, double fastest_clock, const std::vector<float>& kept, int looks = 1);

}  // namespace roof::zoo
