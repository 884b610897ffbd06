// CUDA cores: "Arithmetic Instructions" of the CUDA C++ Programming Guide lists results per clock and multiprocessor; a
// multiply-add is one result and two FLOPs. Tensor cores: the white papers' dense rates divided by multiprocessors and
// boost clock.
#include "ert/gpu/theory.hpp"

#include <array>
#include <string>

namespace roof::gpu {

namespace {

/// FLOPs per clock and multiprocessor of compute capability 8.0 and 9.0.
struct Row {
    const char* isa;
    const char* operation;
    const char* precision;
    double ampere;  ///< 0: none
    double hopper;
};

constexpr std::array rows{
    Row{"cuda", "fma", "fp64", 64, 128},
    Row{"cuda", "add", "fp64", 32, 64},
    Row{"cuda", "mul", "fp64", 32, 64},
    Row{"cuda", "fma", "fp32", 128, 256},
    Row{"cuda", "add", "fp32", 64, 128},
    Row{"cuda", "mul", "fp32", 64, 128},
    Row{"cuda", "fma", "fp16", 512, 512},
    Row{"cuda", "add", "fp16", 256, 256},
    Row{"cuda", "mul", "fp16", 256, 256},
    Row{"cuda", "fma", "bf16", 256, 512},
    Row{"cuda", "add", "bf16", 128, 256},
    Row{"cuda", "mul", "bf16", 128, 256},
    Row{"cuda", "fma", "int32", 128, 128},
    Row{"mma", "tile", "fp64", 128, 256},
    Row{"mma", "tile", "tf32", 1024, 2048},
    Row{"mma", "tile", "fp16", 2048, 4096},
    Row{"mma", "tile", "bf16", 2048, 4096},
    Row{"mma", "tile", "int8", 4096, 8192},
    Row{"mma", "tile_fp16_sums", "fp16", 2048, 4096},
    Row{"wgmma", "tile", "tf32", 0, 2048},
    Row{"wgmma", "tile", "fp16", 0, 4096},
    Row{"wgmma", "tile", "bf16", 0, 4096},
    Row{"wgmma", "tile", "fp8", 0, 8192},
    Row{"wgmma", "tile_e5m2", "fp8", 0, 8192},
    Row{"wgmma", "tile_fp16_sums", "fp16", 0, 4096},
    Row{"wgmma", "tile", "int8", 0, 8192},
};

/// 32 banks of 4 bytes.
constexpr double shared_bytes_per_clock = 128;

std::string source_of(const Row& row, const std::string& generation)
{
    if (row.isa == std::string("cuda")) return generation + ", CUDA C++ Programming Guide, per multiprocessor";
    return generation + ", white paper, per multiprocessor";
}

}  // namespace

std::vector<SpecRate> spec_rates_of(int capability)
{
    std::vector<SpecRate> rates;
    if (capability != 80 && capability != 90) return rates;
    const std::string generation = capability == 80 ? "NVIDIA Ampere (8.0)" : "NVIDIA Hopper (9.0)";
    for (const Row& row : rows) {
        const double per_clock = capability == 80 ? row.ampere : row.hopper;
        if (per_clock > 0)
            rates.push_back(
                {"compute", "core", row.operation, row.isa, row.precision, per_clock, source_of(row, generation)});
    }
    for (const char* operation : {"load", "store"})
        rates.push_back({"bandwidth", "shared", operation, "", "", shared_bytes_per_clock,
                         generation + ", CUDA C++ Best Practices Guide, per multiprocessor"});
    return rates;
}

}  // namespace roof::gpu
