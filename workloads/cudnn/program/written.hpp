// A model's graph, written as a training step's program and planned: all there is to know of a step before there is memory.
#pragma once

#include "workloads/cudnn/program/builder.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof::cudnn {

class Written {
  public:
    /// Throws Unsupported or Error when a chooser finds nothing for a layer.
    Written(const model::Graph& graph, const Settings& settings, const Choosers& choosers);
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;

    const Program& program() const { return program_; }
    const Parameters& parameters() const { return parameters_; }
    const std::vector<Running>& running() const { return running_; }
    const Tensor& images() const { return images_; }  ///< [n][c][y][x], fp32
    const Tensor& labels() const { return labels_; }  ///< int32
    /// How many passes of convolutions each algorithm computes: {{"gemm", 40}, {"winograd", 13}}.
    const std::map<std::string, int, std::less<>>& algorithms() const { return algorithms_; }
    std::size_t bytes() const { return bytes_; }

    /// What the memory holds before the first step, where it is not zero.
    struct Start {
        std::vector<float> values;  ///< of all parameters, as they are stored
        StepState state;
    };
    Start start() const;

    /// A parameter's values between the order of the blocks and PyTorch's.
    std::vector<float> in_pytorch_order(std::size_t parameter, std::span<const float> stored) const;

  private:
    model::Graph graph_;
    Settings settings_;
    Program program_;
    Parameters parameters_;
    std::vector<Running> running_;
    Tensor images_, labels_;
    std::map<std::string, int, std::less<>> algorithms_;
    std::size_t bytes_ = 0;
};

}  // namespace roof::cudnn
