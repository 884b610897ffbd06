// The verdict on each training step: its time against the ceilings, its bottleneck, its headroom, and the calibration
// used.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/rows.hpp"
#include "ert/method/bench/measurement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Median seconds of a step by what bounds its layers; docs/method.md, section 7. A step without layers counts as one
/// layer.
struct StepTimes {
    double compute = 0;
    double bandwidth = 0;
    std::map<std::string, double> levels;       ///< of memory; they add up to `bandwidth`
    std::map<std::string, double> of_nearer{};  ///< the part of `levels` that a nearer level may limit instead
    double unexplained = 0;
    double layers = 0;  ///< of all, also of those without a roof; timed apart, they may take longer than the step
    double step = 0;
    double communication = 0;  ///< exposed
    double data = 0;           ///< the wait, which is not in `step`
    double waited = 0;  ///< for a processor that others used; not in the layers' medians, which leave out what is rare

    /// Neither in the layers nor exposed communication, nor waiting for a processor.
    double outside() const { return std::max(0.0, step - layers - communication - waited); }
    double all() const { return std::max(step, layers) + data; }
    /// Half of the time or more is unexplained or outside the layers.
    bool no_roof_binds() const { return unexplained + outside() >= 0.5 * all(); }
};
/// What other programs took of a step, if it is known. Of several ranks it is not: they take processors from each
/// other.
std::optional<BusyCost> cost_of_others(const Measurement& row);
/// All zero for a row that was not measured.
StepTimes step_times(std::span<const Placement> placements, const Measurement& row);

/// The row's layers with headroom, the most headroom first, at most `n`.
std::vector<const Placement*> most_headroom(std::span<const Placement> placements, const Measurement& row, int n);

/// The placements above their roof beyond the intervals of time and roof. Their work is counted too high, or the roof
/// was measured too low.
std::vector<const Placement*> above_their_roof(const Study& study);

/// The number of such placements, possible causes and the remedy. Empty if there are none.
std::string above_text(const Study& study);

/// The start of the calibration's first row, "2026-11-21 12:26 UTC"; empty if there is no calibration.
std::string calibration_date(const Study& study);

/// "Roofs: the calibration <folder> of <date>.", and how good it is (calibration_quality); empty if there is none. The
/// first line of what a command says about a study.
std::string calibration_line(const Study& study);

std::vector<std::string> reasons_not_measured(const Study& study);

/// The verdict table, the reasons of the rows that are not ok, remarks and how the numbers are known, in at most
/// `columns`; 0: unlimited.
std::string verdict_text(const Study& study, int columns = 0);
/// The `n` layers with the most headroom of each model's largest batch, in at most `columns`; 0: unlimited. Empty
/// without roofs.
std::string headroom_text(const Study& study, int n, int columns = 0);

// The time of a step by phase and by kind of layer. Both are partitions: their parts add up to the step, or to more
// if the layers, which are timed apart, took longer than it.

/// The rest of the step, if there is any: of several ranks what the layers waited for, on a busy machine what the
/// threads waited for, and what is then left.
inline constexpr std::string_view exposed_communication = "exposed communication";
inline constexpr std::string_view waiting_for_processor = "waiting for a processor";
inline constexpr std::string_view outside_layers = "outside the layers";

struct Segment {
    std::string name;  ///< a phase's, a kind's, "update", "other" of kinds not known here, or the rest
    double seconds = 0;
    double forward = 0, backward = 0;  ///< parts of a kind's `seconds`; the update is a kind of its own
    bool is_phase = false;
};

/// All kinds of layer, "other" last.
inline constexpr std::array<std::string_view, 32> kinds_in_order{
    "convolution",  "linear",    "batch_norm", "layer_norm", "attention",      "relu",         "relu6",
    "gelu",         "gelu_tanh", "silu",       "hard_swish", "sigmoid",        "hard_sigmoid", "max_pool",
    "average_pool", "add",       "multiply",   "concat",     "slice",          "shuffle",      "flatten",
    "dropout",      "rms_norm",  "embedding",  "positions",  "take_positions", "rope",         "resize",
    "loss",         "update",    "tanh",       "other"};

/// The phases in the order of the step; empty if phases were not timed.
std::vector<Segment> phases_of(const Measurement& row);
/// The kinds in that order; empty if layers were not timed.
std::vector<Segment> kinds_of(const Measurement& row);

}  // namespace roof::analysis
