#include "workloads/cudnn/device_program.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/trial.hpp"
#include "workloads/model/hashed.hpp"

namespace roof::cudnn {
namespace {

std::size_t available_bytes()
{
    std::size_t available = 0;
    std::size_t total = 0;
    gpu::check(cudaMemGetInfo(&available, &total));
    return available;
}

/// Throws OutOfMemory before any candidate is tried, with the batch that would fit.
const gpu::Stream& with_room(const gpu::Stream& stream, const model::Graph& graph, const Settings& settings)
{
    require_room(graph, settings, available_bytes());
    return stream;
}

}  // namespace

DeviceProgram::DeviceProgram(const model::Graph& graph, const Settings& settings, const gpu::Stream& stream,
                             const std::string& device_model)
    : stream_(with_room(stream, graph, settings)),
      products_(stream,
                settings.tune && !settings.deterministic),  // timing would make the choice, and so the bits, vary
      plans_(stream, settings, device_model, products_),
      list_(write_step(graph, settings, plans_.choosers())),
      arena_(list_.bytes, "training " + graph.name() + " at batch " + std::to_string(settings.batch)),
      memory_(list_, arena_.data())
{
    fill(graph, settings);
    for (const Program::Stage& stage : list_.stages()) {
        stages_.emplace_back();
        for (const ir::Operation& operation : stage.operations)
            stages_.back().push_back(bound(operation, memory_, stream_, plans_.by_number(), products_));
    }
}

/// Sets all memory to zero, except the parameters, constants, the running variances and the state of the first step.
void DeviceProgram::fill(const model::Graph& graph, const Settings& settings) const
{
    gpu::check(cudaMemset(arena_.data(), 0, arena_.bytes()));
    for_initial_values(list_, graph, settings, [&](const Trained& trained, const std::vector<float>& values) {
        repeat(values, trained.value, memory_);
        if (settings.narrow()) repeat(values, trained.read, memory_);
    });
    for (const Running& one : list_.running) repeat({1.0F}, one.variance, memory_);
    for (std::size_t k = 0; k < list_.caches.size(); ++k) {
        std::vector<float> numbers(list_.caches[k].elements());
        model::hashed_cache(static_cast<int>(k)).fill(numbers);
        repeat(numbers, list_.caches[k], memory_);
    }
    for (const auto& [tensor, numbers] : list_.constants())
        gpu::check(cudaMemcpy(memory_.at(tensor), numbers.data(), tensor.bytes(), cudaMemcpyHostToDevice));
    const StepState state = first_state(settings);
    gpu::check(cudaMemcpy(memory_.state(), &state, sizeof(state), cudaMemcpyHostToDevice));
    gpu::check(cudaDeviceSynchronize());
}

void DeviceProgram::enqueue(std::size_t stage) const
{
    for (const std::function<void()>& operation : stages_[stage]) operation();
}

nccl::DeviceRange DeviceProgram::gradients() const
{
    const Tensor& block = list_.parameters.gradients;
    return {memory_.at(block), block.elements()};
}

std::vector<nccl::DeviceBytes> DeviceProgram::updated() const
{
    const Parameters& parameters = list_.parameters;
    std::vector<nccl::DeviceBytes> all{{memory_.at(parameters.values), parameters.values.bytes()}};
    if (parameters.copies) all.push_back({memory_.at(parameters.copies), parameters.copies.bytes()});
    all.push_back({memory_.state(), sizeof(StepState)});
    return all;
}

std::vector<float> DeviceProgram::numbers(const Tensor& tensor) const
{
    std::vector<float> values(tensor.elements());
    gpu::check(cudaMemcpy(values.data(), memory_.at(tensor), tensor.bytes(), cudaMemcpyDeviceToHost));
    return values;
}

}  // namespace roof::cudnn
