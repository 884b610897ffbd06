// The settings of a step, by this engine's names, and the state that changes from step to step.
#pragma once

#include "workloads/engine/settings.hpp"

#include <cstdint>

namespace roof::onednn {

using engine::Algorithm;
using engine::Choices;
using engine::momentum;
using engine::Parameters;
using engine::Question;
using engine::Settings;
using engine::weight_decay;

/// State that the operations of a step share, besides tensors.
struct StepState {
    const int* labels = nullptr;  ///< [batch][of an image]
    double loss = 0;              ///< of the last forward pass
    std::uint32_t step = 0;       ///< steps begun before this one; seeds dropout
    engine::AdamShares adam{};    ///< of the next update
};

/// Whether linear layers' weights are updated by SGD from the factors of their gradient, which then is not stored.
inline bool updates_from_factors(const Settings& settings)
{
    return settings.ranks == nullptr && settings.optimizer == model::Optimizer::sgd;
}

}  // namespace roof::onednn
