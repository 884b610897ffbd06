// What a step leaves for the next one.
#pragma once

#include "workloads/engine/recipe.hpp"

#include <cstdint>

namespace roof::ir {

/// State on the device that a step passes to the next. Kernels update it, so that a captured graph can be repeated.
struct StepState {
    std::uint32_t step = 0;     ///< number of earlier steps; dropout uses it
    std::int32_t finite = 1;    ///< 0: a gradient of this step is not finite, and the update changes nothing
    std::uint32_t good = 0;     ///< updates since the loss scale changed
    std::uint32_t skipped = 0;  ///< number of skipped updates
    float loss_scale = 1;       ///< factor of the loss's gradient
    float loss = 0;             ///< of the last forward pass
    engine::AdamShares adam{};  ///< of the next update by AdamW
};

}  // namespace roof::ir
