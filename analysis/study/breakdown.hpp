// What a step's time is spent on: its phases, and its kinds of layer.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// What no phase or no layer of a step accounts for; it is shown, never spread over the others.
inline constexpr std::string_view not_accounted_for = "not accounted for";

struct Segment {
    std::string name;  ///< a phase's, a kind's, "other" of kinds not known here, or not_accounted_for
    double seconds = 0;
    bool is_phase = false;
};

/// All kinds that a segment may be of, "other" last.
std::span<const std::string_view> kinds_in_order();

/// In the order of the step; empty where phases were not timed.
std::vector<Segment> phases_of(const Measurement& row);
/// As kinds_in_order(); empty where layers were not timed.
std::vector<Segment> kinds_of(const Measurement& row);

}  // namespace roof::analysis
