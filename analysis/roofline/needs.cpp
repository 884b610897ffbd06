#include "analysis/roofline/needs.hpp"

namespace roof::analysis {

Needs needs_of(const Placement& p)
{
    const LevelPlacement& farthest = p.levels.back();
    const Flops flops = p.executed.value > 0 ? p.executed : p.flops;
    return {farthest.roof.value > 0 ? farthest.low / farthest.roof : Seconds{},
            p.compute_roof.value > 0 ? flops / p.compute_roof : Seconds{}};
}

}  // namespace roof::analysis
