// The instruction sets a kernel can be generated for: one table, one row each; and which of them this machine can run.
#pragma once

#include "ert/base/precision.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// How an instruction is written. `scalar` works on one element in the low lane of an xmm register. Fused multiply-add has
/// no legacy form: scalar and sse kernels that need it use its 128-bit VEX form. `tile` works on the matrix unit's tiles.
enum class Encoding { scalar, sse, vex, evex, tile };

struct Isa {
    std::string_view name;  ///< as in plans and in Machine::isa
    Encoding encoding;
    int register_bytes;  ///< of the vector register, or tile
    int registers;       ///< that the instruction set can name

    /// Bytes one instruction works on, for elements of `element_bytes`.
    constexpr int operand_bytes(int element_bytes) const
    {
        return encoding == Encoding::scalar ? element_bytes : register_bytes;
    }
};

/// The vector instruction sets, narrowest first.
inline constexpr std::array<Isa, 4> isa_table{{
    {"scalar", Encoding::scalar, 16, 16},
    {"sse", Encoding::sse, 16, 16},
    {"avx2", Encoding::vex, 32, 16},
    {"avx512", Encoding::evex, 64, 32},
}};

/// A tile: 16 rows of 64 bytes. Not in the table: products of tiles are all that it can do, and the features amx_bf16 and
/// amx_int8 tell whether it can.
inline constexpr Isa tile_isa{"amx", Encoding::tile, 1024, 8};

/// A row of the table, or tile_isa. Throws InputError naming the legal values.
const Isa& parse_isa(std::string_view name);

/// Rows of the table that the processor has and the operating system saves on a context switch (CPUID and XGETBV),
/// narrowest first.
std::vector<std::string> usable_isas();

/// fma, avx512_bf16, avx512_vnni, amx_bf16, …: those of them this processor and operating system offer. Where there are
/// tiles, asks the kernel's permission for this process to use them.
std::vector<std::string> usable_features();

}  // namespace roof::cpu
