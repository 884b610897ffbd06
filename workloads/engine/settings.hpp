// Settings of a network and its training, on every device.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/engine/recipe.hpp"
#include "workloads/model/work.hpp"
#include "workloads/parallel/communicator.hpp"

#include <memory>

namespace roof::engine {

struct Settings {
    int batch = 1;
    int threads = 1;  ///< on a CPU
    Parameters parameters = Parameters::random;
    /// Off: the forward pass and its loss alone, as in training, with no memory for anything else.
    bool trains = true;
    float learning_rate = 0.01F;
    model::Optimizer optimizer = model::Optimizer::sgd;
    /// Precision of activations and of the weights that the passes read: fp32, tf32 (stored as fp32), bf16 or fp16
    /// (with loss scaling). Trained values, gradients and their averages, statistics, the loss and all sums are fp32.
    Precision precision = Precision::fp32;
    /// Algorithm of convolutions; the library's choice where it does not have it for a shape. `automatic`: the fastest
    /// of all for each pass of each shape. `direct` on a CPU: the fastest of oneDNN's first choice and this project's
    /// direct kernels.
    Algorithm algorithm = Algorithm::direct;
    bool deterministic = false;  ///< on a GPU: use only engines and kernels that give the same bits in each run
    /// On a GPU: whether suggested engines are timed and the fastest used; otherwise the first suggestion is used.
    bool tune = true;
    /// Use moments (passes/passes.hpp) wherever they serve; otherwise where a trial shows that they are faster.
    bool moments = false;
    /// Remembered choices. Null: trials are made each time, and `direct` on a CPU takes this project's first kernel if
    /// there is one.
    std::shared_ptr<Choices> choices{};
    /// The other ranks, each with its own batch; null: none. On a CPU every gradient is then stored in memory of the
    /// caller. Dropout decides as in one large batch.
    std::shared_ptr<parallel::Communicator> ranks{};
    bool synchronised_batch_norm = false;  ///< on a CPU: statistics over the batches of all ranks, not per rank
    int ranks_here = 1;                    ///< ranks that share this machine's memory
    Bytes images{};                        ///< on a CPU: what the source of the batches holds

    /// Returns the storage precision of activations.
    Precision storage() const { return precision == Precision::tf32 ? Precision::fp32 : precision; }
    /// Returns whether the passes read narrow copies of the trained values.
    bool narrow() const { return storage() != Precision::fp32; }
    /// Returns which of the ranks this is, and how many there are.
    data::Share share() const
    {
        return ranks == nullptr ? data::Share{} : data::Share{.rank = ranks->rank, .ranks = ranks->size};
    }
};

}  // namespace roof::engine
