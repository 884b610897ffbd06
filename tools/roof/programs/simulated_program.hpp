// Any program on a CPU without counters: its FLOPs and bytes under valgrind, its time from an undisturbed run, and that
// of its functions from a sampled one.
#pragma once

#include "ert/method/bench/clock.hpp"
#include "tools/roof/programs/counted_program.hpp"
#include "tools/roof/programs/executed_program.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace roof {

/// Why no program can be simulated here; empty if it can.
std::string missing_simulation();

/// Runs a program three times, with variables_of_same_code(): undisturbed, sampled, and under callgrind. The first has
/// our streams, the others are silent; messages go to `say`, which is a terminal if `is_live`, and there each second
/// how long a run has taken. The row has the program's wall time, FLOPs and bytes at the memory (simulated). Appends to
/// counters.csv in `folder` what the program did, and each function: FLOPs by number format and instruction set, bytes
/// at each level, time. What could not be found is left out, and the row's remarks have the reason: the program failed,
/// valgrind does not know an instruction, samples are not allowed.
CountedProgram simulate_program(const std::vector<std::string>& words, const std::string& name,
                                const std::filesystem::path& folder, const SimulatedCaches& caches, const Clock& clock,
                                std::ostream& say, bool is_live);

// Metrics of these rows in counters.csv. FLOPs are "FLOPs of fp32 by FMA, 256 bits", with the unit FLOP.
inline constexpr const char* operand_bytes_metric = "bytes of operands";
inline constexpr const char* into_first_metric = "lines into L1";
inline constexpr const char* read_metric = "read from memory";
inline constexpr const char* written_metric = "written to memory";
inline constexpr const char* instructions_metric = "instructions under valgrind";
inline constexpr const char* time_metric = "time by samples";

}  // namespace roof
