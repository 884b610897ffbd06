// The time of a step by phase and by kind of layer. Both are partitions: their parts add up to the step, or to more if the layers,
// which are timed apart, took longer than it.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The rest of the step, if there is any.
inline constexpr std::string_view outside_layers = "outside the layers";

struct Segment {
    std::string name;  ///< a phase's, a kind's, "update", "other" of kinds not known here, or outside_layers
    double seconds = 0;
    double forward = 0, backward = 0;  ///< parts of a kind's `seconds`; the update is a kind of its own
    bool is_phase = false;
};

/// All kinds of layer, "other" last.
inline constexpr std::array<std::string_view, 12> kinds_in_order{"convolution", "linear",       "batch_norm", "relu",
                                                                 "max_pool",    "average_pool", "add",        "flatten",
                                                                 "dropout",     "loss",         "update",     "other"};

/// The phases in the order of the step; empty if phases were not timed.
std::vector<Segment> phases_of(const Measurement& row);
/// The kinds in that order; empty if layers were not timed.
std::vector<Segment> kinds_of(const Measurement& row);

}  // namespace roof::analysis
