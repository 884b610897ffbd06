// Any program on a CPU without counters: its FLOPs and bytes under valgrind, its time from an undisturbed run, and that
// of its functions from a sampled one.
#pragma once

#include "analysis/instructions/executed_work.hpp"
#include "ert/base/units.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/machine.hpp"
#include "tools/roof/programs/counted_program.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
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

    std::vector<std::string> options() const
    {
        return {"--cache-sim=yes", "--D1=" + first.option(), "--LL=" + last.option()};
    }
    /// "48 KiB with 12 ways and 32 MiB with 8 ways".
    std::string text() const;
};

/// One instance of each, as the system reports it; common sizes if it reports none.
SimulatedCaches simulated_caches(const Machine& machine);

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

// Where a program's threads are while it runs (sampled_run.cpp): samples of their place in the code, in user mode, by a
// clock of the kernel (perf_event_open, no hardware counter). Each stands for some time of the wall's clock.

struct SampledPlace {
    std::string object;       ///< path of the program or library; "[vdso]": the kernel's; empty: in no file
    std::uint64_t place = 0;  ///< in the file, in bytes
    int samples = 0;
    Seconds time;  ///< of the wall's clock: what threads did at the same time is shared among them
};

/// Samples the programs that the calling thread starts, with their threads and programs.
class Sampler {
  public:
    /// Throws Unsupported with the system's reason.
    explicit Sampler(Seconds period);
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    void start();
    void stop();
    /// All places, after stop(). `lost`: samples that were not kept.
    std::vector<SampledPlace> places(int& lost) const;
    /// The most threads of a process that had a tenth of its samples or more; 0 without samples. Threads that do little
    /// are not counted, nor are processes.
    int threads() const;

  private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

// Under valgrind's callgrind (executed_program.cpp): executed instructions with the misses of this processor's caches.

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

// Metrics of these rows in counters.csv. FLOPs are "FLOPs of fp32 by FMA, 256 bits", with the unit FLOP.
inline constexpr const char* operand_bytes_metric = "bytes of operands";
inline constexpr const char* into_first_metric = "lines into L1";
inline constexpr const char* read_metric = "read from memory";
inline constexpr const char* written_metric = "written to memory";
inline constexpr const char* instructions_metric = "instructions under valgrind";
inline constexpr const char* time_metric = "time by samples";

}  // namespace roof
