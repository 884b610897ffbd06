// The instruction sets for which the loops are compiled. Each has a source file in this folder.
#pragma once

namespace roof::kernels {

/// Each includes the ones before it.
enum class Isa { sse, avx2, avx512, avx512_bf16 };

/// The widest that this processor has. The environment variable ONEDNN_MAX_CPU_ISA, which limits oneDNN, limits these
/// loops too. Tests hide instructions with it.
Isa widest_isa();

/// "roof:avx512_bf16"
const char* name(Isa isa);

}  // namespace roof::kernels
