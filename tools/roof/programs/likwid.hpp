// likwid-bench, if it is installed: which of its tests do what our probes do, how to run one, and what it answers.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// One of its tests where ours measured a ceiling.
struct LikwidPoint {
    std::string level;      ///< of our measured levels; "core" for its peak rates
    std::string operation;  ///< ours
    std::string precision;  ///< empty for bandwidth
    int threads = 1;
    Bytes working_set;  ///< all arrays and threads together
    std::string test;   ///< its name
    /// How often each thread goes through its part; 0: as often as takes a second, which likwid finds by trying.
    long long iterations = 0;
};

/// Standard output of a command given as words; throws Error if it cannot be run or fails.
using RunProgram = std::function<std::string(const std::vector<std::string>& words)>;
std::string run_program(const std::vector<std::string>& words);

/// Whether a program of that name is on PATH.
bool is_installed(const std::string& program);

/// The tests that `likwid-bench -a` lists.
std::set<std::string> parse_likwid_tests(std::string_view listing);

/// Every operation on every level that was found, for every thread count, at the working set at which our ceiling was held; where
/// there is none, in the middle of the level, or of memory at the largest; and multiply-adds. By the widest instruction set of
/// the machine that likwid has the test for. A run is to last some tenths of a second, at the rate that ours found there: many
/// more samples than ours, few enough to go through all points in turns.
std::vector<LikwidPoint> likwid_points(const Ceilings& ceilings, const Machine& machine,
                                       const std::set<std::string>& tests);

/// Each thread touches its own part of the arrays first.
std::vector<std::string> likwid_command(const LikwidPoint& point);

/// Byte/s or, of its peak rates, FLOP/s; nothing if the output holds none.
std::optional<double> parse_likwid(std::string_view output);

}  // namespace roof
