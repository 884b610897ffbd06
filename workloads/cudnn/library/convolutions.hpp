// Chooses and runs the convolutions of a step: times the allowed engines once per shape and stores the fastest.
#pragma once

#include "workloads/cudnn/library/chooser.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/model/work.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roof::cudnn {

class ConvolutionTrial;

class Convolutions : public Chooser {
  public:
    using Chooser::Chooser;

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

    Chosen find(const ConvolutionPass& shape);
    std::optional<Chosen> find_whole(const ConvolutionPass& shape);
    std::optional<Candidate> best_of(const ConvolutionPass& shape);
    bool is_better(const ConvolutionPass& shape, const Candidate& whole, const Candidate& alone) const;
    engine::Question question(const ConvolutionPass& shape) const
    {
        return Chooser::question(text(shape), name(shape.pass), shape.precision);
    }
    std::optional<Candidate> remembered(const ConvolutionPass& shape, const std::vector<Engine>& among) const;
    std::optional<Candidate> first(std::vector<Engine> among) const;
    std::optional<std::pair<Candidate, Seconds>> fastest(const ConvolutionPass& shape,
                                                         const std::vector<Engine>& among);

    Handle handle_{stream_.get()};
    Descriptor device_ = current_device();
    std::map<ConvolutionPass, int> plans_;  ///< plan numbers of the choices
    std::vector<Chosen> chosen_;
};

}  // namespace roof::cudnn
