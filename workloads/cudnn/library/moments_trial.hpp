// A 1x1 convolution and the batch norm behind it, whose result a residual sum reads, on memory of their own: by passes over
// the map between them, and by moments (engine/layers/moments.hpp).
#pragma once

#include "workloads/cudnn/library/convolutions.hpp"
#include "workloads/cudnn/library/products.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <functional>
#include <vector>

namespace roof::cudnn {

class MomentsTrial : public Trial {
  public:
    /// Chooses the implementations of both ways and fills the memory with values. All must outlive this object. Throws
    /// OutOfMemory, Unsupported or Error.
    MomentsTrial(const ConvolutionPass& forward, Convolutions& convolutions, Products& products,
                 const gpu::Stream& stream);

    /// Enqueues both ways.
    void run() const;
    /// Returns whether both gave the same statistics and gradients within the precision's tolerance. Throws Error.
    bool agrees() const { return Trial::agrees(1e-2); }
    /// Return the time of all passes of both in a CUDA graph.
    RunInGraph by_passes() const { return in_graph(by_passes_); }
    RunInGraph by_moments() const { return in_graph(by_moments_); }

  private:
    using Functions = std::vector<std::function<void()>>;

    struct Given {
        Tensor source, weights, share, other, signs, weight, bias;
    };
    void write_passes(const Given& given, ConvolutionPass shape, const Choosers& choosers);
    void write_moments(const Given& given, const ConvolutionPass& shape, const Choosers& choosers);
    /// Appends the pass with all that its shape has, or the bare pass.
    void convolve(const Choosers& choosers, const ConvolutionPass& shape, Convolve operation);
    /// A tensor whose values outlive the operation that writes them.
    Tensor result(Tensor shape, std::vector<Tensor>& to);
    ChannelNumbers channels();
    void append(const ir::Operation& operation, const std::vector<Tensor>& used);
    RunInGraph in_graph(const Functions& way) const;

    const gpu::Stream& stream_;
    Precision precision_;
    int channels_;
    std::vector<Tensor> passed_, from_moments_;  ///< results, in the same order
    Functions by_passes_, by_moments_;
};

}  // namespace roof::cudnn
