// Chooses and runs the convolutions of a step: times the allowed engines once per shape and stores the fastest.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/engine/ir/program.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cudnn {

class ConvolutionTrial;

class Convolutions {
  public:
    /// Choices are stored per `device_model` and library version. Throws Error.
    Convolutions(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
                 std::string device_model);

    /// Throws Unsupported if no engine can compute the shape.
    Choice choose(const ConvolutionPass& shape);
    /// Returns whether both passes of the first convolution that read images take less time by space_to_depth(). The
    /// result of the trial is kept.
    bool reads_by_depth(const ConvolutionPass& first);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const Convolve& operation, const Memory& memory) const;

  private:
    struct Chosen {
        Choice choice;
        Candidate candidate;
    };

    struct Tried {
        Candidate candidate;
        Seconds seconds;
    };

    Chosen find(const ConvolutionPass& shape);
    std::optional<Chosen> find_whole(const ConvolutionPass& shape);
    std::optional<Candidate> best_of(const ConvolutionPass& shape);
    bool is_better(const ConvolutionPass& shape, const Candidate& whole, const Candidate& alone) const;
    /// The fastest engines of a first convolution, forward and backward_weights. Throws OutOfMemory.
    struct BothPasses {
        std::vector<std::unique_ptr<ConvolutionTrial>> trials;
        std::vector<std::function<void()>> runs;
        bool is_offered = true;  ///< for both passes
    };
    BothPasses both_passes(ConvolutionPass shape);
    engine::Question question(const ConvolutionPass& shape) const;
    std::optional<Candidate> remembered(const ConvolutionPass& shape, const std::vector<Engine>& among) const;
    std::optional<Candidate> first(std::vector<Engine> among) const;
    std::optional<Tried> fastest(const ConvolutionPass& shape, const std::vector<Engine>& among);

    const gpu::Stream& stream_;
    Settings settings_;
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
    Handle handle_;
    Descriptor device_;
    std::map<ConvolutionPass, int> plans_;  ///< plan numbers of the choices
    std::vector<Chosen> chosen_;
};

}  // namespace roof::cudnn
