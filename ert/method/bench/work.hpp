// The work of one launch, and how it is known. A subject declares it; rates and intensities are derived from it.
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/units.hpp"

#include <cmath>
#include <vector>

namespace roof {

/// How a number is known; every displayed number carries one of these names.
enum class Known { measured, counter, simulated, emulated, analytic, spec };
constexpr EnumNames<Known::spec> names_of(Known)
{
    return {"origin of a number", {"measured", "counter", "simulated", "emulated", "analytic", "spec"}};
}

/// Bytes that an implementation moves again where the caches nearer to the core keep fewer than `kept`.
struct Refetch {
    Bytes kept;
    Bytes moved;
};

/// FLOPs and bytes of one launch. Bytes are an interval: from `compulsory` (each operand moved once) to `no_reuse`
/// (each operand moved at each use). The two are equal for a probe.
struct Work {
    Flops flops{};
    Bytes compulsory{};
    Bytes no_reuse{};
    Known known = Known::analytic;
    /// FLOPs that the algorithm executes where they differ from `flops`: fewer products with Winograd, no taps on the
    /// padding in a direct convolution. 0: not known to differ.
    Flops executed{};
    /// What of `compulsory` is read and what is written, where the two are told apart; the rest is unknown.
    Bytes read{};
    Bytes written{};
    bool at_least = false;  ///< the FLOPs are a lower bound: operators without a formula ran, too
    /// What the implementation moves beside `compulsory`, by its blocking; empty: nothing, or not known.
    std::vector<Refetch> refetched{};

    /// What crosses into caches of so many bytes beside `compulsory`.
    Bytes refetched_beyond(Bytes nearer) const
    {
        Bytes sum{};
        for (const Refetch& one : refetched)
            if (nearer < one.kept) sum += one.moved;
        return sum;
    }
    /// Whether reads and writes are known for all compulsory bytes.
    bool tells_reads_from_writes() const
    {
        constexpr double rounding = 1e-6;
        const double told = (read + written).value;
        return told > 0 && std::abs(told - compulsory.value) <= rounding * compulsory.value;
    }
};

/// The work of so many launches together.
inline Work operator*(const Work& work, int times)
{
    Work product = work;
    for (Bytes Work::*const bytes : {&Work::compulsory, &Work::no_reuse, &Work::read, &Work::written})
        product.*bytes = work.*bytes * times;
    product.flops = work.flops * times;
    product.executed = work.executed * times;
    for (Refetch& one : product.refetched) one.moved = one.moved * times;
    return product;
}

}  // namespace roof
