// A program under valgrind's callgrind: its executed instructions with the misses of this processor's caches, beside an
// undisturbed run.
#pragma once

#include "analysis/instructions/executed_work.hpp"
#include "ert/base/units.hpp"
#include "ert/method/bench/machine.hpp"
#include "tools/roof/programs/sampled_run.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof {

// The caches that valgrind simulates in place of this machine's: of the sizes that the system reports. Without these
// options valgrind takes them from CPUID, which on a virtual machine may be the host's, and rounds them to a power of
// two with one or two ways.

/// A cache in valgrind's terms: "size,associativity,line".
struct SimulatedCache {
    static constexpr std::size_t line = 64;

    std::size_t bytes = 0;
    std::size_t ways = 8;

    std::string option() const;
};

/// A cache of this capacity with the power of two of sets that valgrind needs: as many as leave 8 ways or more, so that
/// 33 MiB are 16384 sets of 33 ways. Where that gave more than 64 ways, fewer, of a capacity that is up to 1/32
/// smaller.
SimulatedCache simulated_cache(Bytes capacity);

struct SimulatedCaches {
    SimulatedCache first, last;

    std::vector<std::string> options() const;
    /// "48 KiB with 12 ways and 32 MiB with 8 ways".
    std::string text() const;
};

/// One instance of each, as the system reports it; common sizes if it reports none.
SimulatedCaches simulated_caches(const Machine& machine);

/// Environment variables that keep libraries which choose their code by CPUID from instructions that valgrind does not
/// have, beyond AVX2: the C library, OpenBLAS, BLIS, oneDNN, MKL, PyTorch, NumPy. Those that the user has set stay as
/// they are. A program that asks CPUID itself is not held.
std::map<std::string, std::string> variables_of_same_code();

/// The words that run a program, and the programs that it starts, under callgrind, which writes its files into
/// `folder`.
std::vector<std::string> under_callgrind(const std::vector<std::string>& words, const SimulatedCaches& caches,
                                         const std::filesystem::path& folder);

/// The functions in the files of callgrind in `folder`. Throws Unsupported if there are none.
std::vector<analysis::ExecutedFunction> executed_functions(const std::filesystem::path& folder);

/// One sentence that names the instruction which valgrind did not know, by its messages in `folder`; empty if there is
/// none.
std::string unknown_instruction(const std::filesystem::path& folder);

/// A function with its share of the time of a sampled run.
struct FunctionTime {
    int samples = 0;
    Seconds time;
};

struct SampledFunctions {
    std::map<std::pair<std::string, std::string>, FunctionTime> functions;  ///< by object and name
    /// In user mode, without those in the dynamic loader and the kernel's page, of which valgrind replaces functions by
    /// its own.
    int samples = 0;
    int executed = 0;       ///< those at an instruction that valgrind ran, too
    std::string elsewhere;  ///< the object with the most others
};
SampledFunctions sampled_functions(const std::vector<SampledPlace>& places,
                                   const std::vector<analysis::ExecutedFunction>& functions);

}  // namespace roof
