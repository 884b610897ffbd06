// The instruction sets of the generated kernels, one table row each, and those that this machine can run.
#pragma once

#include "ert/base/precision.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// The encoding of an instruction. `scalar` works on one element in the low lane of an xmm register. Fused multiply-add
/// has no legacy form, so scalar and sse kernels use its 128-bit VEX form. `tile` works on the matrix unit's tiles.
/// `neon` and `sve` are AArch64's.
enum class Encoding { scalar, sse, vex, evex, tile, neon, sve };

struct Isa {
    std::string_view name;  ///< as in plans and in Machine::isa
    Encoding encoding;
    int register_bytes;  ///< per vector register or tile
    int registers;       ///< number of registers

    /// Bytes that one instruction works on, for elements of `element_bytes`.
    constexpr int operand_bytes(int element_bytes) const
    {
        return encoding == Encoding::scalar ? element_bytes : register_bytes;
    }
    /// AArch64's multiply-add adds a product to its destination. The one used of x86-64 multiplies its destination.
    constexpr bool is_aarch64() const { return encoding == Encoding::neon || encoding == Encoding::sve; }
};

/// The vector instruction sets, narrowest first.
inline constexpr std::array<Isa, 4> isa_table{{
    {"scalar", Encoding::scalar, 16, 16},
    {"sse", Encoding::sse, 16, 16},
    {"avx2", Encoding::vex, 32, 16},
    {"avx512", Encoding::evex, 64, 32},
}};

/// A tile: 16 rows of 64 bytes. Not in the table, because tiles support only products. The features amx_bf16 and
/// amx_int8 say whether the machine has them.
inline constexpr Isa tile_isa{"amx", Encoding::tile, 1024, 8};

// AArch64. Not in the table, because no bench has their loops: these were run under emulation only (cpu/aarch64).
inline constexpr Isa neon_isa{"neon", Encoding::neon, 16, 32};
/// `register_bytes`: the processor's, 16 to 256.
constexpr Isa sve_isa(int register_bytes)
{
    return {"sve", Encoding::sve, register_bytes, 32};
}

/// A row of the table, or tile_isa. Throws InputError with the legal values.
const Isa& parse_isa(std::string_view name);

/// The table rows that the processor supports and the operating system saves on a context switch (CPUID and XGETBV),
/// narrowest first.
std::vector<std::string> usable_isas();

/// The features fma, avx512_bf16, avx512_vnni, amx_bf16, … that this processor and operating system offer. Requests the
/// kernel's permission to use tiles, if there are any.
std::vector<std::string> usable_features();

}  // namespace roof::cpu
