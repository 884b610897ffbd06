// The work of a program and of its functions, from its executed instructions. FLOPs are exact for what valgrind ran;
// bytes are those of operands (exact), and lines of simulated caches.
#pragma once

#include "analysis/instructions/callgrind_file.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// Number format, instruction set and bits of the vector, 0 for one number.
struct KindOfFlops {
    std::string precision, instruction_set;
    int width = 0;

    auto operator<=>(const KindOfFlops&) const = default;
    /// "fp32 by FMA, 256 bits", "fp64 by SSE, one number".
    std::string text() const;
};

struct ExecutedWork {
    std::string name;    ///< of the function; empty for a program
    std::string object;  ///< its file
    double instructions = 0;
    double unknown = 0;  ///< instructions that could not be decoded: their code is in no file
    std::map<KindOfFlops, double> flops;
    double operand_bytes = 0;  ///< that instructions read and write
    double into_first = 0;     ///< bytes: 64 for each line
    double read = 0;           ///< bytes from memory for loads
    double written = 0;  ///< bytes to memory: lines that stores fetched, or changed lines that left, whichever are more

    double total_flops() const;
    std::map<std::string, double> by_precision() const;
};

struct ExecutedProgram {
    ExecutedWork whole;
    std::vector<ExecutedWork> functions;  ///< most instructions first
};

/// Adds up the files of a program's processes. Code that cannot be read counts as unknown. Known: simulated.
ExecutedProgram executed_work(const std::vector<ExecutedFunction>& functions);

}  // namespace roof::analysis
