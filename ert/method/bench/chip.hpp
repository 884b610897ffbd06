// What public documents say of a chip, not measured: a file for each core of a CPU and compute capability of GPUs
// (configs/machines), compiled in. A ceiling above its document's rate is a measurement error.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// Floating-point instructions that can start per clock. 0: unknown.
struct Pipes {
    double fma = 0;   ///< multiply-adds, or multiplications
    double add = 0;   ///< additions
    double both = 0;  ///< together
};

/// A core of a CPU. 0: unknown.
struct CoreChip {
    struct Models {
        int family, first, last;
    };
    std::string name;
    std::string source;
    std::string vendor;
    std::vector<Models> processors;
    int datapath_bits = 0;  ///< a wider instruction takes as many slots as datapaths
    Pipes narrow;           ///< instructions of up to 256 bits
    Pipes wide;             ///< instructions of 512 bits
    double bf16_dots = 0;   ///< dot-product instructions per clock
    double int8_dots = 0;
    double bf16_tile = 0;  ///< FLOPs or operations of the matrix unit per clock
    double int8_tile = 0;
    double load_bytes = 0;  ///< per clock, from L1
    double store_bytes = 0;
    double access_bytes = 0;  ///< loads and stores together
    double fill_bytes = 0;    ///< per clock, from L2 into L1, and the same back
};

/// A compute capability of GPUs.
struct GpuChip {
    std::string name;                 ///< "NVIDIA Ampere (8.0)"
    int capability = 0;               ///< 80 for 8.0
    std::vector<std::string> ran_on;  ///< cards on which the kernels of this program ran; empty: they ran on none
    /// Per clock and multiprocessor. 0: it has the instruction, and no document gives its rate.
    std::vector<SpecRate> instructions;

    /// An empty operation or precision stands for any.
    bool has(std::string_view isa, std::string_view operation, std::string_view precision) const;
};

/// Of one file; messages contain `name`. Throw InputError with file, line, key and the legal values.
CoreChip parse_core_chip(const std::string& text, const std::string& name);
GpuChip parse_gpu_chip(const std::string& text, const std::string& name);

/// The core of a processor; null if no file describes it.
const CoreChip* core_chip(std::string_view vendor, int family, int model);
/// All capabilities, oldest first.
const std::vector<GpuChip>& gpu_chips();
/// What a GPU of this capability can do: its own file; else the newest older file of its generation, which has the same
/// first number; else the newest older file of all. Null for one older than all.
const GpuChip* gpu_chip(int capability);
/// Whether a GPU of this capability has the instruction. But for CUDA cores and `mma` each is of one generation.
bool gpu_has(int capability, std::string_view isa, std::string_view operation, std::string_view precision);

/// What the tensor cores of a GPU of this capability multiply: "fp16", "int8".
std::vector<std::string> tensor_precisions(int capability);

/// Whether such a GPU multiplies matrices in this precision, by tensor cores or CUDA cores.
bool multiplies(int capability, std::string_view precision);

/// What a CPU needs for steps in bf16: AVX-512 for oneDNN's layers between the convolutions. A decoded token has none
/// of them, and its time is that of reading the weights; a prompt's is of products, which widening makes no faster.
constexpr std::string_view isa_for_bf16(bool decodes)
{
    return decodes ? "avx2" : "avx512";
}

/// As the `isa` of what was not measured: then there is no roof of that precision, for CUDA cores are far slower.
inline constexpr std::string_view tensor_cores = "tensor cores";

/// Of a GPU: an instruction that the CUDA cores do not carry out.
inline bool is_of_tensor_cores(const SpecRate& rate)
{
    return rate.kind == "compute" && !rate.isa.empty() && rate.isa != "cuda";
}

}  // namespace roof
