// The loops that are run under emulation, in an order that both programs use: emulated.cpp runs them, expected.cpp, a
// program for the host, computes what they have to give.
#pragma once

#include "cpu/kernels/forms.hpp"
#include "cpu/kernels/operations.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace roof::tests {

inline constexpr int compute_iterations = 3;
inline constexpr std::size_t stream_iterations = 4;  ///< of each pass
inline constexpr std::size_t stream_passes = 2;

struct ComputeCase {
    Precision precision;
    cpu::Mix mix;
};

struct StreamCase {
    ArrayOperation stream;
    cpu::Form form;
    std::size_t bytes;  ///< of one array
};

// The loops on general registers: as many operations as those of x86-64 have.
inline constexpr int chase_loads = 16;
inline constexpr int chase_steps = 48;
inline constexpr int chase_lines = 40;  ///< of 64 bytes, each linked to the seventh behind it
inline constexpr int chase_stride = 7;
inline constexpr int chain_operations = 120;
inline constexpr int chain_iterations = 3;

struct ChainCase {
    const char* name;
    bool multiplies;
    int chains;
};
inline constexpr ChainCase chain_cases[] = {
    {"additions", false, 1}, {"multiplications", true, 1}, {"independent", false, 6}};

/// "neon", or "sve128" and so on with the bits of a register.
inline cpu::Isa parse_case_isa(const std::string& name)
{
    return name == "neon" ? cpu::neon_isa : cpu::sve_isa(std::stoi(name.substr(3)) / 8);
}

inline std::vector<ComputeCase> compute_cases(const cpu::Isa& isa)
{
    const std::vector<std::string> features{"asimdhp", "bf16", "i8mm", "svebf16", "svei8mm"};
    std::vector<ComputeCase> cases;
    for (const PrecisionTraits& row : precision_table) {
        for (const std::string& operation : cpu::operation_names()) {
            if (operation == cpu::best_operation || cpu::contradiction(operation, isa, row.precision)) continue;
            for (const cpu::Mix& mix : cpu::candidates(operation, isa, row.precision, features))
                cases.push_back({row.precision, mix});
        }
    }
    return cases;
}

/// All but those that AArch64 has no instruction for.
inline std::vector<StreamCase> stream_cases(const cpu::Isa& isa)
{
    std::vector<StreamCase> cases;
    for (const ArrayOperation& stream : usual_array_operations()) {
        if (stream.nontemporal) continue;
        for (const cpu::Form& form : cpu::forms_of(stream, true, true)) {
            if (form.addressing == cpu::Addressing::counter) continue;
            const auto iteration = static_cast<std::size_t>(form.vectors * form.parts * isa.register_bytes);
            cases.push_back({stream, form, stream_iterations * iteration});
        }
    }
    return cases;
}

/// Word `index` of array `array`: pseudo-random fp64 numbers from 1 to 2 (splitmix64).
inline std::uint64_t word(int array, std::size_t index)
{
    std::uint64_t bits = (static_cast<std::uint64_t>(array) << 32 | index) + 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return 0x3ff0000000000000 | (bits ^ bits >> 31) >> 12;
}

inline constexpr double stored_number = 1.1;
inline constexpr std::uint64_t added_word = 3;

}  // namespace roof::tests
