// A trainable network: a graph as a program with its memory. The constructor allocates everything, a step no tensors.
#pragma once

#include "workloads/model/graph.hpp"
#include "workloads/onednn/operations/trained.hpp"
#include "workloads/onednn/program/settings.hpp"
#include "workloads/parallel/exchange.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof::onednn {

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

class Network {
  public:
    /// Throws OutOfMemory before it allocates, Error when oneDNN refuses a layer.
    Network(const model::Graph& graph, const Settings& settings);

    /// `images`: [batch][channels][height][width]; `labels`: [batch][of an image], class indices. Returns the mean
    /// loss.
    double forward(const float* images, const int* labels, Trace& trace);
    /// Calls `ready` for each parameter as soon as its gradient is complete.
    void backward(Trace& trace, const std::function<void(std::size_t parameter)>& ready = {});
    void update(Trace& trace);
    /// For a rank that receives its parameters from another rank: only counts the step.
    void leave_update_to_another() { ++state_.step; }

    /// With ranks: the size of each parameter's gradient. place_gradients() sets their addresses; call it before the
    /// first backward pass. The memory must outlive the network.
    std::vector<parallel::GradientSize> gradient_sizes() const;
    void place_gradients(const std::function<float*(std::size_t parameter)>& place);
    /// A line on each parameter: what must be the same on all ranks so that they add the same gradients in the same
    /// order.
    std::string exchanged_layouts() const;
    /// All memory that training changes, for rank 0 to send.
    std::vector<std::span<std::byte>> trained_bytes() const;
    /// A line on each parameter with the checksum of its values.
    std::string checksums() const;

    std::vector<TimedPart> parts() const { return program_.parts(); }
    /// The number of convolution passes per algorithm: {{"direct", 40}, {"winograd", 13}}.
    const std::map<std::string, int, std::less<>>& algorithms() const { return algorithms_; }
    /// The size of the arena, which holds everything but the images.
    Bytes memory() const { return {static_cast<double>(program_.arena_bytes())}; }
    /// Of this and all ranks here, with the program itself.
    const engine::StepMemory& step_memory() const { return memory_; }

    /// In the order of PyTorch's named_parameters().
    const std::vector<model::Parameter>& parameters() const { return parameters_; }
    const std::vector<Trained>& trained() const { return trained_; }
    const std::vector<Running>& running() const { return running_; }
    /// Writes the values that `fill` stores, those from `first` on, in PyTorch's shape OIHW, [out][in] or [channels].
    void set(std::size_t parameter, const std::function<void(std::span<float> values, std::size_t first)>& fill);

  private:
    Settings settings_;
    int classes_;
    std::size_t labels_;  ///< of a batch
    std::vector<model::Parameter> parameters_;
    StepState state_;
    engine::StepMemory memory_;
    Program program_;
    Tensor images_;
    std::vector<Trained> trained_;
    std::vector<Running> running_;
    std::map<std::string, int, std::less<>> algorithms_;
};

}  // namespace roof::onednn
