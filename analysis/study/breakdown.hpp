// The time of a step by phase and by kind of layer.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Time of a step outside its phases or layers.
inline constexpr std::string_view not_accounted_for = "not accounted for";

struct Segment {
    std::string name;  ///< a phase's, a kind's, "other" of kinds not known here, or not_accounted_for
    double seconds = 0;
    bool is_phase = false;
    bool is_rest = false;  ///< time outside the phases or layers
};

/// All kinds of layer, "other" last.
std::span<const std::string_view> kinds_in_order();

/// The phases in the order of the step; empty if phases were not timed.
std::vector<Segment> phases_of(const Measurement& row);
/// The kinds in the order of kinds_in_order(); empty if layers were not timed.
std::vector<Segment> kinds_of(const Measurement& row);

}  // namespace roof::analysis
