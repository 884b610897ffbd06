// The batch norms of a step on the current device that a library computes: for each shape our own kernels and every engine that cuDNN
// offers for it, ReLU included, are timed once, and the fastest is remembered in a file.
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
    /// `device_model` and the library's version are part of what a choice depends on. Throws Error.
    Norms(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
          std::string device_model);

    /// Without a plan where our own kernels are the fastest, or alone, or no engine's results are theirs.
    Choice choose(const NormShape& shape);
    /// Puts the operation into the stream each time it is called.
    std::function<void()> bound(const LibraryNorm& operation, const Memory& memory) const;
    std::function<void()> bound(const LibraryNormGradient& operation, const Memory& memory) const;

  private:
    std::optional<Candidate> find(const NormShape& shape);
    std::optional<Candidate> fastest(const NormShape& shape, const std::vector<Candidate>& offered);
    engine::Question question(const NormShape& shape) const;
    std::function<void()> running(const Candidate& candidate, const Descriptor& addresses) const;

    const gpu::Stream& stream_;
    Settings settings_;
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
    Handle handle_;
    Descriptor device_;
    std::map<std::string, Choice> known_;  ///< by shape and pass
    std::vector<Candidate> chosen_;        ///< by their plans' numbers
};

}  // namespace roof::cudnn
