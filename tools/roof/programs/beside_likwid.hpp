// `roof calibrate --compare likwid`: our probes and likwid's tests at the same points, in turns, so that whatever slows the
// machine meets both.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/programs/likwid.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// Of each round, in FLOP/s or byte/s: ours is the best of a few rounds, as a ceiling is.
struct LikwidComparison {
    LikwidPoint point;
    std::vector<double> ours;
    std::vector<double> theirs;
};

/// Throws InputError if likwid-bench is not installed.
void require_likwid();

/// Rounds over the points of `ceilings`. Says beforehand on `context.err` how long it takes at least. A point that either
/// side cannot measure is left out. Stops when the person interrupts, with what there is.
std::vector<LikwidComparison> compare_with_likwid(const Ceilings& ceilings, Context& context,
                                                  const RunProgram& run = run_program);

std::string to_text(const std::vector<LikwidComparison>& comparisons);
/// [{"level", "operation", "precision", "threads", "working_set_bytes", "test", "ours", "theirs", "ratio": {"median", "low",
/// "high"}, "rounds", "unit"}]
nlohmann::json to_json(const std::vector<LikwidComparison>& comparisons);

}  // namespace roof
