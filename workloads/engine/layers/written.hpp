// A model's graph, written as the program of a training step and planned. Needs no memory of a device.
#pragma once

#include "workloads/engine/layers/builder.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::ir {

class Written {
  public:
    /// Throws Unsupported or Error if a chooser finds no implementation for a layer.
    Written(const model::Graph& graph, const Settings& settings, const Choosers& choosers);
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;

    const Program& program() const { return program_; }
    const Parameters& parameters() const { return parameters_; }
    const std::vector<Running>& running() const { return running_; }
    const Tensor& images() const { return images_; }  ///< [n][c][y][x], fp32
    const Tensor& labels() const { return labels_; }  ///< int32
    /// Returns the number of convolution passes per algorithm: {{"gemm", 40}, {"winograd", 13}}.
    const std::map<std::string, int, std::less<>>& algorithms() const { return algorithms_; }
    std::size_t bytes() const { return bytes_; }

    /// Initial contents of the memory that are not zero.
    struct Start {
        std::vector<float> values;  ///< of all parameters, in stored order
        StepState state;
    };
    Start start() const;

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

/// Returns the largest batch whose planned memory fits into `bytes`; 0 if none does. Libraries' own memory is not
/// counted.
int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes);

/// Throws OutOfMemory, with the batch that would fit, if the plan of the settings' batch does not.
void require_room(const model::Graph& graph, const Settings& settings, std::size_t available);

}  // namespace roof::ir
