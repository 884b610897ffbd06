// The instruction sets for which the loops are compiled. Each has a source file in this folder.
#pragma once

#include "ert/base/names.hpp"

namespace roof::kernels {

/// Each includes the ones before it.
enum class Isa { sse, avx2, avx512, avx512_bf16, amx_bf16 };
constexpr EnumNames<Isa::amx_bf16> names_of(Isa)
{
    return {"instruction set", {"roof:sse", "roof:avx2", "roof:avx512", "roof:avx512_bf16", "roof:amx_bf16"}};
}

/// The widest that this processor has.
Isa processor_isa();
/// The widest that the loops use. The environment variable ONEDNN_MAX_CPU_ISA, which limits oneDNN, limits these loops
/// too. Tests hide instructions with it.
Isa widest_isa();

}  // namespace roof::kernels
