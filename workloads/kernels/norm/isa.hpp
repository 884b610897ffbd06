// The loops of loops.hpp as compiled for each instruction set: a source file each, avx512.cpp and so on.
#pragma once

#include "workloads/kernels/elements.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Places of a map one after the other, each with the same channels side by side: 1, 2 or 4 vectors of them.
struct Strip {
    std::ptrdiff_t positions = 0;
    std::ptrdiff_t apart = 0;  ///< elements from one position to the next
    int channels = 0;
    bool is_streamed = false;  ///< results go past the caches: they would not stay there until they are read
};

/// What a batch norm does to its channels, a number for each of the strip's:  y = slope * (x - mean) + shift
struct NormFactors {
    const float* mean = nullptr;
    const float* slope = nullptr;
    const float* shift = nullptr;
};

/// What is added to a normalised value: nothing, a tensor or, where it has factors, a tensor normalised by them.
struct Addend {
    Elements tensor{};
    NormFactors factors{};
};

/// Which part of a result's gradient passes its ReLU: all; where slope * (x - mean) + shift is positive, as it was on
/// the way there; where the tensor that came out is positive.
enum class ReluMask { none, normalised, result };

/// The gradient of a batch norm's result, before its ReLU, as others gave it.
struct GivenGradient {
    Elements first{};
    Elements second{};  ///< to be added to the first; none if null
    ReluMask mask = ReluMask::none;
    Elements result{};  ///< what came out, for ReluMask::result
    Elements sum{};     ///< for ReluMask::result: where the gradient before the ReLU goes
};

/// dx = slope * (dy - of_shift - (x - mean) * of_scale)
struct SpreadFactors {
    const float* of_shift = nullptr;
    const float* of_scale = nullptr;
};

/// A few dozen numbers are added in fp32, their sums in double.
struct NormLoops {
    const char* name;
    int lanes;  ///< channels in a vector
    /// first += sum of x - about, second += sum of (x - about)^2.
    void (*sums)(const Strip& strip, const Elements& x, const float* about, double* first, double* second);
    /// y = normalised x + addend, and no less than 0 if `relu`. An addend with factors goes with a ReLU alone.
    void (*normalise)(const Strip& strip, const Elements& y, const Elements& x, const NormFactors& factors,
                      const Addend& addend, bool relu);
    /// first += sum of dy, second += sum of dy * (x - mean), dy the gradient before the ReLU.
    void (*gradient_sums)(const Strip& strip, const GivenGradient& given, const Elements& x, const NormFactors& factors,
                          double* first, double* second);
    /// dx of dy, which is open or to be masked as when it was normalised; dx may lie on dy.
    void (*spread)(const Strip& strip, const Elements& dx, const Elements& dy, ReluMask mask, const Elements& x,
                   const NormFactors& factors, const SpreadFactors& spread);
};

extern const NormLoops norm_sse;
extern const NormLoops norm_avx2;
extern const NormLoops norm_avx512;

/// Those that this processor runs, the widest first.
std::span<const NormLoops* const> norm_loops_here();

}  // namespace roof::kernels
