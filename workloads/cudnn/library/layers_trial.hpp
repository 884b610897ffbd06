// Layers around a batch norm on memory of their own, written as a step writes them (engine/layers) in two ways: by our kernels,
// and by what has to beat them.
#pragma once

#include "workloads/cudnn/library/convolutions.hpp"
#include "workloads/cudnn/library/products.hpp"
#include "workloads/cudnn/library/trial.hpp"
#include "workloads/engine/layers/builder.hpp"

#include <array>
#include <functional>
#include <vector>

namespace roof::cudnn {

class LayersTrial : public Trial {
  public:
    /// As bound() in bind.hpp.
    using Bind = std::function<std::function<void()>(const ir::Operation& operation, const Memory& memory)>;
    enum class Timed { forward, backward, both };

    /// Writes the layers from `first` on, by the choosers of each way, without a backward pass if only the forward pass is timed.
    /// The outputs of the layers before, the parameters and the gradient of the last layer are filled. Throws OutOfMemory,
    /// Unsupported or Error.
    LayersTrial(const model::Graph& graph, int first, const Settings& settings, const std::array<Choosers, 2>& ways,
                Timed timed, const Bind& bind);

    /// Fills the memory and enqueues all passes of both ways.
    void run() const;
    /// Returns whether run() gave the same outputs, statistics and gradients within the precision's tolerance. Throws Error.
    bool agrees() const { return Trial::agrees(tolerance_); }
    /// Enqueues the timed passes of a way.
    void enqueue(std::size_t way) const;

  private:
    struct Way {
        std::vector<std::function<void()>> before, timed;
    };
    /// Returns the results.
    std::vector<Tensor> write(Builder& build, int first, const std::vector<Tensor>& outputs, const Tensor& gradient);

    double tolerance_;
    std::array<Way, 2> ways_;
};

/// The pass of a batch norm, the second way by a library: `choice`, whose operation `bind` knows.
LayersTrial norm_trial(const NormShape& shape, const Choice& choice, const LayersTrial::Bind& bind);

/// A 1x1 convolution and the batch norm behind it, whose result a residual sum reads: by passes over the map between them, and by
/// moments (engine/layers/moments.hpp). All must outlive the trial.
LayersTrial moments_trial(const ConvolutionPass& forward, Convolutions& convolutions, Products& products,
                          const gpu::Stream& stream);

}  // namespace roof::cudnn
