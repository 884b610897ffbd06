// What a network is built and trained with on the GPU.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/engine/recipe.hpp"

namespace roof::cudnn {

using engine::Algorithm;

struct Settings {
    int batch = 1;
    engine::Parameters parameters = engine::Parameters::random;
    float learning_rate = 0.01F;
    /// Of activations and of the weights that the passes read: fp32, tf32 (stored as fp32), bf16 or fp16 (with loss scaling).
    /// Trained values, their gradients and momentum, statistics and the loss are fp32 always, and so are sums.
    Precision precision = Precision::fp32;
    /// Of convolutions. `automatic`: the fastest for each pass of each shape. cuDNN has matrix products everywhere and Winograd's algorithm on
    /// some chips; an algorithm without an engine is refused.
    Algorithm algorithm = Algorithm::automatic;
    bool deterministic = false;  ///< engines and kernels that give the same bits each time, and no others
    /// Whether the engines that a library suggests are timed, and the fastest taken; otherwise the first is.
    bool tune = true;
    data::Share share{};  ///< which of how many ranks this is: each trains on a batch of its own

    /// What activations are stored in.
    Precision storage() const { return precision == Precision::tf32 ? Precision::fp32 : precision; }
    /// Whether the passes read copies of the trained values in less than fp32.
    bool narrow() const { return storage() != Precision::fp32; }
};

}  // namespace roof::cudnn
