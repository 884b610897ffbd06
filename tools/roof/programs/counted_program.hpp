// Any program on a CPU: its time with the processor's events.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/measurement.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace roof {

/// The row of a program, without what was measured.
Measurement program_row(const std::string& program, const std::string& device, const std::string& description);

struct CountedProgram {
    Measurement row;
    int status = 0;       ///< as run_child() returns it
    std::string problem;  ///< not empty: the program could not be run, and `row` is empty
};

/// Why the processor's events cannot be counted here; empty if they can.
std::string why_not_counted(const BenchRegistry& registry);

/// Runs a program, for the last two of CountedProgram.
using RunCounted = std::function<int(std::string& problem)>;

/// The program's wall time, and where the processor's events can be counted its FLOPs and the lines from memory, for
/// all its threads and processes; else the row's remarks have the reason. Appends the counts to counters.csv in
/// `folder`.
CountedProgram count_program(const BenchRegistry& registry, const std::filesystem::path& folder,
                             const std::string& name, const Clock& clock, const RunCounted& run);

// A program that used a GPU, from the files of the injected recorder (recorded_program.cpp).

/// Reads the folders process-* in `folder`, appends their records to the recorded files of `folder` under the id of
/// their row, and removes them. Returns the rows; the caller appends them to the measurements. `program`: the model's
/// name in the rows. The time of a row is the median of the steps that the program marked, or the whole recorded time
/// without marks. If no process recorded anything, there is one row with status unsupported and the reason.
std::vector<Measurement> gather_recording(const std::filesystem::path& folder, const std::string& program);

}  // namespace roof
