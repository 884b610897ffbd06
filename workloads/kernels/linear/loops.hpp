// The loops of a linear layer's products, with vectors of `lanes` words. A source file selects its instruction set with
// a pragma and includes this last. The code calls nothing of the standard library: the linker could use a copy compiled
// for this set in the whole program.
#pragma once

#include "workloads/kernels/linear/backward.hpp"
#include "workloads/kernels/linear/forward.hpp"
#include "workloads/kernels/linear/gradient.hpp"

namespace roof::kernels {

template <int lanes, class Element, Dot dot = Dot::widened>
consteval LinearLoops linear_loops(const char* name)
{
    using Gradient = LinearGradient<lanes, Element, dot>;
    using Forward = LinearForward<lanes, Element, dot>;
    using Backward = LinearBackward<lanes, Element, dot>;
    return {name,
            Words<lanes, Element, dot>::each,
            {{Forward::held(), Backward::held(), Gradient::held()}},
            Forward::run,
            Backward::run,
            Gradient::store,
            Gradient::update};
}

}  // namespace roof::kernels
