// A step's program on the current device: its memory, allocated once, and its operations, bound to that memory.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "workloads/cudnn/library/plans.hpp"
#include "workloads/engine/layers/layers.hpp"
#include "workloads/nccl/device_exchange.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::cudnn {

class DeviceProgram {
  public:
    /// Tries candidates for convolutions and products, plans and allocates the memory, and writes the initial values.
    /// Throws OutOfMemory, Unsupported or Error.
    DeviceProgram(const model::Graph& graph, const Settings& settings, const gpu::Stream& stream,
                  const std::string& device_model);
    DeviceProgram(const DeviceProgram&) = delete;
    DeviceProgram& operator=(const DeviceProgram&) = delete;

    const StepProgram& list() const { return list_; }
    std::size_t bytes() const { return arena_.bytes(); }
    /// Enqueues the operations of the stage in the stream.
    void enqueue(std::size_t stage) const;

    float* images() const { return memory_.at<float>(list_.images); }
    std::int32_t* labels() const { return memory_.at<std::int32_t>(list_.labels); }
    StepState* state() const { return memory_.state(); }
    /// All gradients: one block of fp32 values.
    nccl::DeviceRange gradients() const;
    /// Returns what an update changes: values, narrow copies, and the state with its loss scale.
    std::vector<nccl::DeviceBytes> updated() const;

    /// Returns the values of an fp32 tensor. The stream must be idle.
    std::vector<float> numbers(const Tensor& tensor) const;

  private:
    void fill(const model::Graph& graph, const Settings& settings) const;

    const gpu::Stream& stream_;
    Products products_;
    Plans plans_;
    StepProgram list_;
    gpu::Buffer<std::byte> arena_;
    Memory memory_;
    std::vector<std::vector<std::function<void()>>> stages_;
};

}  // namespace roof::cudnn
