// The file of valgrind's callgrind, started with --dump-instr=yes --compress-pos=no: how often each instruction ran in
// each function, and which lines of the simulated caches it missed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Counts of one instruction, in all its executions within a function. Lines are those of data.
struct ExecutedInstruction {
    std::uint64_t address = 0;  ///< in the object's file, as the linker gave it; of code without a file, in memory
    double times = 0;
    double first_read = 0;  ///< lines that loads and stores missed in the first cache
    double first_written = 0;
    double last_read = 0;  ///< … and in the last one
    double last_written = 0;
    double written_back = 0;  ///< changed lines that had to leave the last cache for these; with --simulate-wb=yes
};

struct ExecutedFunction {
    std::string name;
    std::string object;  ///< path of the program or library; "???" of code that is in no file
    std::vector<ExecutedInstruction> instructions;
};

/// Throws Error for another file, and for one without addresses.
std::vector<ExecutedFunction> parse_callgrind(std::string_view text);

}  // namespace roof::analysis
