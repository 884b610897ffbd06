// `roof calibrate --compare likwid`: runs our probes and likwid-bench's tests in turns at the same points, so that interference affects both.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "tools/roof/console/context.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// A test of likwid at a point where we measured a ceiling.
struct LikwidPoint {
    std::string level;      ///< one of our measured levels; "core" for peak rates
    std::string operation;  ///< ours
    std::string precision;  ///< empty for bandwidth
    int threads = 1;
    Bytes working_set;  ///< all arrays and threads together
    std::string test;   ///< likwid's name
    /// Passes of each thread over its part; 0: likwid chooses a number that takes a second.
    long long iterations = 0;
};

/// Parses the output of `likwid-bench -a`.
std::set<std::string> parse_likwid_tests(std::string_view listing);

/// Points for every operation, measured level and thread count, and for multiply-adds. The working set is that of our
/// ceiling; without one, the middle of the level, or the largest size for memory. Each test uses the widest instruction
/// set that both the machine and likwid support. A run lasts some tenths of a second at our rate: longer than our
/// samples, and short enough to measure all points in turns.
std::vector<LikwidPoint> likwid_points(const Ceilings& ceilings, const Machine& machine,
                                       const std::set<std::string>& tests);

/// The command line of a point. Each thread initialises its own part of the arrays.
std::vector<std::string> likwid_command(const LikwidPoint& point);

/// The rate in byte/s, or FLOP/s for peak tests; nullopt if the output has no rate.
std::optional<double> parse_likwid(std::string_view output);

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
