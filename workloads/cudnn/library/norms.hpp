// Chooses between our kernels and cuDNN's engine for each batch norm with its ReLU: times both once and stores the
// fastest.
#pragma once

#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/library/norm_trial.hpp"
#include "workloads/engine/choices.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

class Norms {
  public:
    /// Choices are stored per `device_model` and library version. Throws Error.
    Norms(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
          std::string device_model);

    /// Returns no plan if our kernels are the fastest or the only ones, or if no engine's results match theirs.
    Choice choose(const NormShape& shape);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const LibraryNorm& operation, const Memory& memory) const;
    std::function<void()> bound(const LibraryNormGradient& operation, const Memory& memory) const;

  private:
    std::optional<Candidate> find(const NormShape& shape);
    bool is_better(const NormShape& shape, const Candidate& offered);
    engine::Question question(const NormShape& shape) const;

    const gpu::Stream& stream_;
    Settings settings_;
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
    Handle handle_;
    Descriptor device_;
    std::map<NormShape, Choice> known_;
    std::vector<Candidate> chosen_;  ///< indexed by plan number
};

}  // namespace roof::cudnn
