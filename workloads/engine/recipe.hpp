// How every engine trains: the constants of the recipe, and where training starts.
#pragma once

namespace roof::engine {

/// Where training starts: hashed values can be made in any language, and switch dropout off.
enum class Parameters { random, hashed };

/// Constants of the recipe, which are PyTorch's defaults and those of its ImageNet example.
inline constexpr float momentum = 0.9F;
inline constexpr float weight_decay = 1e-4F;
inline constexpr double adam_beta1 = 0.9;
inline constexpr double adam_beta2 = 0.999;
inline constexpr float adam_epsilon = 1e-8F;
inline constexpr float adam_weight_decay = 0.01F;
inline constexpr float batch_norm_epsilon = 1e-5F;
inline constexpr float batch_norm_momentum = 0.1F;

/// What AdamW divides its averages of gradients and of their squares by in update t, because they begin at 0: 1 -
/// beta^t.
struct AdamShares {
    float mean = 1 - adam_beta1;
    float square = 1 - adam_beta2;
};
constexpr AdamShares after_update(const AdamShares& now)
{
    return {static_cast<float>(adam_beta1 * static_cast<double>(now.mean) + (1 - adam_beta1)),
            static_cast<float>(adam_beta2 * static_cast<double>(now.square) + (1 - adam_beta2))};
}

/// Of the hash that decides what a dropout drops: mix(mix(place) + mix(mix(seed + step) + layer)).
inline constexpr unsigned dropout_seed = 0x5eed;

/// Of the batches that a step trains on.
inline constexpr unsigned data_seed = 1;

}  // namespace roof::engine
