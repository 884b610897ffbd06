// Settings of a network that is written as operations and trained.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/engine/recipe.hpp"

namespace roof::ir {

using engine::Algorithm;

struct Settings {
    int batch = 1;
    engine::Parameters parameters = engine::Parameters::random;
    float learning_rate = 0.01F;
    /// Precision of activations and of the weights that the passes read: fp32, tf32 (stored as fp32), bf16 or fp16
    /// (with loss scaling). Trained values, gradients, momentum, statistics, the loss and all sums are fp32.
    Precision precision = Precision::fp32;
    /// Algorithm of convolutions. `automatic`: the fastest per pass and shape. An algorithm without an engine is
    /// refused.
    Algorithm algorithm = Algorithm::automatic;
    bool deterministic = false;  ///< use only engines and kernels that give the same bits in each run
    /// Whether suggested engines are timed and the fastest used; otherwise the first suggestion is used.
    bool tune = true;
    /// Use moments (moments.hpp) wherever they serve, without a trial. Otherwise only where a trial shows that they are
    /// faster.
    bool moments = false;
    data::Share share{};  ///< this rank of all ranks; each trains on its own batch

    /// Returns the storage precision of activations.
    Precision storage() const { return precision == Precision::tf32 ? Precision::fp32 : precision; }
    /// Returns whether the passes read narrow copies of the trained values.
    bool narrow() const { return storage() != Precision::fp32; }
};

}  // namespace roof::ir
