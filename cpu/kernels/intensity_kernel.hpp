// A loop that loads an array and does a given number of multiply-adds with what it loads: work of any arithmetic intensity,
// for the curve under the roofs.
#pragma once

#include "cpu/kernels/emitter.hpp"

#include <cstddef>
#include <vector>

namespace roof::cpu {

/// Multiply-adds for each load, or loads for each multiply-add: one of the two numbers is 1.
struct FmaRatio {
    int fmas = 1;
    int loads = 1;
};

/// `intensity`: FLOPs per byte loaded, a power of two from 1/32 to 16. `precision`: fp64 or fp32.
FmaRatio fma_ratio(double intensity, Precision precision);

class IntensityKernel : public Emitter {
  public:
    /// `isa`: avx2 or avx512. `vectors`: loaded in one iteration, a multiple of ratio.loads.
    IntensityKernel(const Isa& isa, Precision precision, const FmaRatio& ratio, int vectors);

    /// Lengths of the loop that are worth trying; each is a multiple of those before.
    static std::vector<int> lengths(const FmaRatio& ratio);

    std::size_t bytes_per_iteration() const { return static_cast<std::size_t>(vectors_ * operand_bytes()); }
    double flops_per_iteration() const;
    int vectors() const { return vectors_; }

    /// The loop adds to accumulator `target` the values of vector `vector`; or, if `is_words`, its 64-bit words modulo 2^64:
    /// of the vectors that no multiply-add uses, so that every load shows in the result.
    struct Use {
        int vector;
        int target;
        bool is_words;
    };
    const std::vector<Use>& uses() const { return uses_; }
    /// Accumulators, all of which `run` leaves in `result`.
    int accumulators() const { return accumulators_; }

    /// `bytes`: of the array, a positive multiple of bytes_per_iteration(). `passes`: at least 1. `factor`: a register of
    /// ones. `result`: accumulators() registers. All aligned to 64 bytes.
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
