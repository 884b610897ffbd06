// How every engine trains: the constants of the recipe, and where training starts.
#pragma once

namespace roof::engine {

/// Where training starts: hashed values can be made in any language, and switch dropout off.
enum class Parameters { random, hashed };

/// Constants of the recipe, which are PyTorch's defaults and those of its ImageNet example.
inline constexpr float momentum = 0.9F;
inline constexpr float weight_decay = 1e-4F;
inline constexpr float batch_norm_epsilon = 1e-5F;
inline constexpr float batch_norm_momentum = 0.1F;

/// Of the hash that decides what a dropout drops: mix(mix(place) + mix(mix(seed + step) + layer)).
inline constexpr unsigned dropout_seed = 0x5eed;

/// Of the batches that a step trains on.
inline constexpr unsigned data_seed = 1;

}  // namespace roof::engine
