// What a network is built and trained with, and what changes from step to step.
#pragma once

#include <cstdint>

namespace roof::onednn {

/// Where training starts: hashed values can be made in any language, and switch dropout off.
enum class Parameters { random, hashed };

struct Settings {
    int batch = 1;
    int threads = 1;
    Parameters parameters = Parameters::random;
    float learning_rate = 0.01F;
};

/// Constants of the recipe, which are PyTorch's defaults and those of its ImageNet example.
inline constexpr float momentum = 0.9F;
inline constexpr float weight_decay = 1e-4F;
inline constexpr float batch_norm_epsilon = 1e-5F;
inline constexpr float batch_norm_momentum = 0.1F;

/// What the operations of a step share beside tensors.
struct StepState {
    const int* labels = nullptr;  ///< [batch]
    double loss = 0;              ///< of the last forward pass
    std::uint32_t step = 0;       ///< steps begun before this one; dropout draws from it
};

}  // namespace roof::onednn
