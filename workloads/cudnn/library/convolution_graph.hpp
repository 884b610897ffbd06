// A pass of a convolution as cuDNN's operation graph, and the engines that offer to compute it on a device.
#pragma once

#include "workloads/cudnn/library/graph.hpp"
#include "workloads/cudnn/program/convolution_shape.hpp"

#include <vector>

namespace roof::cudnn {

/// The tensors of a graph, by the number under which a plan is given their addresses.
enum TensorNumber : std::int64_t { number_source = 1, number_weights, number_result, number_bias };

/// The graph's operations: the convolution, and behind it bias and ReLU where the shape has them. Throws Unsupported or Error.
std::vector<Descriptor> operations_of(const ConvolutionShape& shape);

/// A graph, and whom cuDNN suggests for it: the heuristics' list, best first, then the fallbacks; each engine configuration once.
class ConvolutionGraph {
  public:
    /// Throws Unsupported where cuDNN takes no such graph, or Error.
    explicit ConvolutionGraph(const ConvolutionShape& shape);

    std::vector<Engine> engines(const Descriptor& device) const;

  private:
    Descriptor graph_;
};

}  // namespace roof::cudnn
