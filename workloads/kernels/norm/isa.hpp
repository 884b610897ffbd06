// The table of the norm loops, loops.hpp, as compiled for each instruction set.
#pragma once

#include "workloads/kernels/elements.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Consecutive positions of a map. Each holds the same adjacent channels: 1, 2 or 4 vectors.
struct Strip {
    std::ptrdiff_t positions = 0;
    std::ptrdiff_t apart = 0;  ///< elements between positions
    int channels = 0;
    bool is_streamed = false;  ///< non-temporal stores: the results would leave the caches before they are read
};

/// The factors of a batch norm, one number per channel of the strip:  y = slope * (x - mean) + shift
struct NormFactors {
    const float* mean = nullptr;
    const float* slope = nullptr;
    const float* shift = nullptr;
};

/// The addend of a normalised value: nothing, a tensor, or a tensor that is normalised by `factors` if it has them.
struct Addend {
    Elements tensor{};
    NormFactors factors{};
};

/// The part of a result's gradient that passes its ReLU: all; where slope * (x - mean) + shift is positive, as in the
/// forward pass; where the result is positive.
enum class ReluMask { none, normalised, result };

/// The gradient of a batch norm's result, before its ReLU.
struct GivenGradient {
    Elements first{};
    Elements second{};  ///< added to the first; null: none
    ReluMask mask = ReluMask::none;
    Elements result{};  ///< the forward result, for ReluMask::result
    Elements sum{};     ///< for ReluMask::result: receives the gradient before the ReLU
};

/// dx = slope * (dy - of_shift - (x - mean) * of_scale)
struct SpreadFactors {
    const float* of_shift = nullptr;
    const float* of_scale = nullptr;
};

/// Partial sums of a few dozen numbers are fp32; their sums are double.
struct NormLoops {
    const char* name;
    int lanes;  ///< channels per vector
    /// first += sum of x - about, second += sum of (x - about)^2.
    void (*sums)(const Strip& strip, const Elements& x, const float* about, double* first, double* second);
    /// y = normalised x + addend; max(y, 0) if `relu`.
    void (*normalise)(const Strip& strip, const Elements& y, const Elements& x, const NormFactors& factors,
                      const Addend& addend, bool relu);
    /// first += sum of dy, second += sum of dy * (x - mean), where dy is the gradient before the ReLU.
    void (*gradient_sums)(const Strip& strip, const GivenGradient& given, const Elements& x, const NormFactors& factors,
                          double* first, double* second);
    /// Computes dx from dy, which is unmasked or masked as in the forward pass. dx may be the memory of dy.
    void (*spread)(const Strip& strip, const Elements& dx, const Elements& dy, ReluMask mask, const Elements& x,
                   const NormFactors& factors, const SpreadFactors& spread);
};

extern const NormLoops norm_sse;
extern const NormLoops norm_avx2;
extern const NormLoops norm_avx512;

/// The loops that this processor supports, the widest first.
std::span<const NormLoops* const> norm_loops_here();

}  // namespace roof::kernels
