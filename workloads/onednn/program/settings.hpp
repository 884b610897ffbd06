// What a network is built and trained with, and what changes from step to step.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/engine/recipe.hpp"
#include "workloads/parallel/communicator.hpp"

#include <cstdint>
#include <memory>

namespace roof::onednn {

using engine::Algorithm;
using engine::batch_norm_epsilon;
using engine::batch_norm_momentum;
using engine::Choices;
using engine::momentum;
using engine::Parameters;
using engine::Question;
using engine::weight_decay;

struct Settings {
    int batch = 1;
    int threads = 1;
    Parameters parameters = Parameters::random;
    float learning_rate = 0.01F;
    /// Of activations and of the weights that the passes read: fp32 or bf16. Trained values, their gradients and
    /// momentum, statistics and the loss are fp32 always, and so are sums.
    Precision precision = Precision::fp32;
    /// Of convolutions; where the library does not offer it for a shape, direct is used. `automatic`: the fastest of
    /// all for each pass of each shape. `direct`: the faster of the library's favourite and this project's kernel.
    Algorithm algorithm = Algorithm::direct;
    /// Remembered choices of `automatic` and `direct`. Null: `automatic` tries each time, and `direct` takes this
    /// project's kernel where there is one.
    std::shared_ptr<Choices> choices{};
    /// Those it trains with, each on a batch of its own; null: alone. With ranks every gradient is stored, in memory
    /// given from outside, and dropout decides as it would for these images in one large batch.
    std::shared_ptr<parallel::Communicator> ranks{};
    bool synchronised_batch_norm = false;  ///< statistics over the batches of all ranks, not of each its own
};

/// What the operations of a step share beside tensors.
struct StepState {
    const int* labels = nullptr;  ///< [batch]
    double loss = 0;              ///< of the last forward pass
    std::uint32_t step = 0;       ///< steps begun before this one; dropout draws from it
};

}  // namespace roof::onednn
