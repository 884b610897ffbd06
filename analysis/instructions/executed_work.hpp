// The work of a program and of its functions, from its executed instructions. FLOPs are exact for what valgrind ran;
// bytes are those of operands (exact), and lines of simulated caches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

// The file of valgrind's callgrind, started with --dump-instr=yes --compress-pos=no: how often each instruction ran in
// each function, and which lines of the simulated caches it missed.

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

// The code of a program or library, read from its ELF file.

class ObjectCode {
  public:
    /// Throws InputError if the file cannot be read, and Error if it is no 64-bit ELF file.
    explicit ObjectCode(const std::filesystem::path& file);

    /// The bytes from an address, as the linker gave it, to the end of its segment; empty outside the segments.
    std::span<const std::uint8_t> at(std::uint64_t address) const;
    /// The address of a place in the file; nullopt outside the segments.
    std::optional<std::uint64_t> address_of(std::uint64_t place) const;

  private:
    struct Segment {
        std::uint64_t address, place, bytes;
    };
    std::string content_;
    std::vector<Segment> segments_;
};

/// The code of files, each read once.
class ObjectCodes {
  public:
    /// Null for a file that is gone or not readable.
    const ObjectCode* of(const std::string& file);

  private:
    std::map<std::string, std::optional<ObjectCode>> known_;
};

// What one instruction of a program does, by its bytes: FLOPs by number format and instruction set, and the bytes of
// its operands in memory. docs/profile.md defines which instructions count as how many FLOPs. A build without Zydis has
// no decoder (decoder_absent.cpp).

struct InstructionWork {
    std::string_view precision{};        ///< fp64, fp32, or fp80 of x87; empty without FLOPs
    std::string_view instruction_set{};  ///< x87, SSE, AVX, FMA; AVX-512 of any extension in EVEX; empty without FLOPs
    int width = 0;                       ///< bits of the vector; 0: one number
    double flops = 0;
    double bytes = 0;  ///< read and written in memory
};

/// The reason why this build cannot decode; empty if it can.
std::string missing_decoder();

/// The instruction at the start of `code`, of 64-bit mode. nullopt if it cannot be decoded, or if a mask decides its
/// FLOPs.
std::optional<InstructionWork> work_of(std::span<const std::uint8_t> code);

/// Its name in capitals and its extension, "VADDPD (AVX512F)"; empty if it cannot be decoded.
std::string instruction_name(std::span<const std::uint8_t> code);

}  // namespace roof::analysis
