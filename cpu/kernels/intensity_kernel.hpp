// A loop that loads an array and does a given number of multiply-adds with the loaded data, for a chosen arithmetic
// intensity.
#pragma once

#include "cpu/kernels/emitter.hpp"

#include <cstddef>
#include <vector>

namespace roof::cpu {

/// Multiply-adds per load, or loads per multiply-add: one of the two numbers is 1.
struct FmaRatio {
    int fmas = 1;
    int loads = 1;
};

/// `intensity`: FLOPs per byte loaded, a power of two from 1/32 to 16. `precision`: fp64 or fp32.
FmaRatio fma_ratio(double intensity, Precision precision);

class IntensityKernel : public Emitter {
  public:
    /// `isa`: avx2 or avx512. `vectors`: vectors loaded in one iteration, a multiple of ratio.loads.
    IntensityKernel(const Isa& isa, Precision precision, const FmaRatio& ratio, int vectors);

    /// Loop lengths to try. Each is a multiple of the shorter ones.
    static std::vector<int> lengths(const FmaRatio& ratio);

    std::size_t bytes_per_iteration() const { return static_cast<std::size_t>(vectors_ * operand_bytes()); }
    double flops_per_iteration() const;
    int vectors() const { return vectors_; }

    /// The loop adds vector `vector` to accumulator `target`: as values, or if `is_words` as 64-bit words modulo 2^64.
    /// Words are summed for vectors that no multiply-add uses, so that every load affects the result.
    struct Use {
        int vector;
        int target;
        bool is_words;
    };
    const std::vector<Use>& uses() const { return uses_; }
    /// Number of accumulators, all stored in `result` by `run`.
    int accumulators() const { return accumulators_; }

    /// `bytes`: size of the array, a positive multiple of bytes_per_iteration(). `passes`: at least 1. `factor`: a
    /// register of ones. `result`: accumulators() registers. All are aligned to 64 bytes.
    void run(std::size_t passes, std::size_t bytes, const std::byte* array, const std::byte* factor,
             std::byte* result) const;

  private:
    void plan_uses();
    void generate();
    void emit_vector(int index);

    int element_bytes_;
    FmaRatio ratio_;
    int vectors_;
    int accumulators_ = 0;
    std::vector<Use> uses_;
};

}  // namespace roof::cpu
