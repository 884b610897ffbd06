// What one instruction of a program does, by its bytes: FLOPs by number format and instruction set, and the bytes of
// its operands in memory. docs/profile.md defines which instructions count as how many FLOPs. A build without Zydis has
// no decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roof::analysis {

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
