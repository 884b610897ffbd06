// What one launch does, and how that is known. A subject declares its work; everything downstream only divides.
#pragma once

#include "ert/base/units.hpp"

#include <string_view>

namespace roof {

/// How a number came to be known; every number the tool shows carries one of these words.
enum class Known { measured, counter, simulated, analytic, spec };

std::string_view name(Known known);
Known parse_known(std::string_view word);

/// FLOPs and bytes of one launch. Where the bytes are not exact they are an interval: `compulsory`, each operand moved
/// once, to `no_reuse`, each use of an operand moved again. A probe's two ends are equal: its traffic is its design.
struct Work {
    Flops flops;
    Bytes compulsory;
    Bytes no_reuse;
    Known known = Known::analytic;
    /// What the algorithm at work really computes, where that is known to differ from `flops`: Winograd's fewer products, a
    /// direct convolution without the taps on the padding. 0: not known to differ.
    Flops executed{};
};

/// What `times` that do the same do together.
Work operator*(const Work& work, int times);

}  // namespace roof
