// The convolutions of a step on the current device: every engine that is allowed is timed once for each shape, the fastest is
// remembered in a file, and what was chosen is bound to memory and run.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/program/program.hpp"
#include "workloads/engine/choices.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

class Convolutions {
  public:
    /// `device_model` and the library's version are part of what a choice depends on. Throws Error.
    Convolutions(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
                 std::string device_model);

    /// Throws Unsupported if no engine serves.
    Choice choose(const ConvolutionShape& shape);
    /// Puts the operation into the stream each time it is called.
    std::function<void()> bound(const Convolve& operation, const Memory& memory) const;

  private:
    struct Chosen {
        Choice choice;
        Candidate candidate;
    };

    Chosen find(const ConvolutionShape& shape);
    engine::Question question(const ConvolutionShape& shape) const;
    std::optional<Candidate> remembered(const ConvolutionShape& shape, const std::vector<Engine>& among) const;
    std::optional<Candidate> first(std::vector<Engine> among) const;
    std::optional<Candidate> fastest(const ConvolutionShape& shape, const std::vector<Engine>& among);

    const gpu::Stream& stream_;
    Settings settings_;
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
    Handle handle_;
    Descriptor device_;
    std::map<std::string, int> plans_;  ///< numbers of what was chosen, by shape and pass
    std::vector<Chosen> chosen_;
};

}  // namespace roof::cudnn
