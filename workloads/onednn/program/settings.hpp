// Settings of a network and its training, and the state that changes from step to step.
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
    /// Precision of activations and of the weights that the passes read: fp32 or bf16. Trained values, gradients,
    /// momentum, statistics, the loss and all sums are fp32.
    Precision precision = Precision::fp32;
    /// Convolution algorithm; direct if oneDNN does not have it for a shape. `automatic`: the fastest of all for each
    /// pass of each shape. `direct`: the fastest of oneDNN's first choice and this project's direct kernels.
    Algorithm algorithm = Algorithm::direct;
    /// Remembered choices of `automatic` and `direct`. Null: `automatic` measures each time, and `direct` takes this
    /// project's first kernel if there is one.
    std::shared_ptr<Choices> choices{};
    /// The other ranks, each with its own batch; null: none. With ranks every gradient is stored in memory of the
    /// caller, and dropout decides as in one large batch.
    std::shared_ptr<parallel::Communicator> ranks{};
    bool synchronised_batch_norm = false;  ///< statistics over the batches of all ranks, not per rank
};

/// State that the operations of a step share, besides tensors.
struct StepState {
    const int* labels = nullptr;  ///< [batch]
    double loss = 0;              ///< of the last forward pass
    std::uint32_t step = 0;       ///< steps begun before this one; seeds dropout
};

}  // namespace roof::onednn
