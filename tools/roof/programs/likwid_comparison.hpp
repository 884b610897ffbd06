// `roof calibrate --compare likwid`: runs our probes and likwid's tests in turns at the same points, so that
// interference affects both.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/likwid.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// Rates of each round in FLOP/s or byte/s. Our rate is the best of a few repetitions, as for a ceiling.
struct LikwidComparison {
    LikwidPoint point;
    std::vector<double> ours;
    std::vector<double> theirs;
};

/// Throws InputError if likwid-bench is not installed.
void require_likwid();

/// Measures the points of `ceilings` in rounds, after printing the expected time on `context.err`. Leaves out points
/// that either side cannot measure. An interrupt ends it early and keeps the results so far.
std::vector<LikwidComparison> compare_with_likwid(const Ceilings& ceilings, Context& context,
                                                  const RunProgram& run = run_program);

std::string to_text(const std::vector<LikwidComparison>& comparisons);
/// [{"level", "operation", "precision", "threads", "working_set_bytes", "test", "ours", "theirs",
///   "ratio_median", "ratio_low", "ratio_high", "rounds", "unit"}]
nlohmann::json to_json(const std::vector<LikwidComparison>& comparisons);

}  // namespace roof
