// In place of cuDNN behind the engine's own interface: loops on the host, in the order of the stream. The engine offers
// them every convolution; batch norms stay with its own kernels. Attention has the engine's own graph, and a stand-in
// of the library's C functions behind it (tests/emulated_gpu/cudnn).
#include "ert/base/error.hpp"
#include "tests/cudnn/device_json.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/cudnn/library/plans.hpp"

namespace roof::cudnn {

namespace {

constexpr const char* implementation = "emulated: loops on the host";

Choice by_loops()
{
    return {.plan = 0,
            .workspace = 0,
            .implementation = implementation,
            .algorithm = "gemm",
            .fused = emulated::machine().libraries_fuse};
}

/// The work of the loop is in no time model: it takes as long as an empty launch.
template <class Work>
std::function<void()> in_stream(cudnnHandle_t handle, const Work& work)
{
    cudaStream_t stream = nullptr;
    check(cudnnGetStream(handle, &stream), "asking for a stream");
    return [stream, work] {
        emulated::Machine& machine = emulated::machine();
        const std::lock_guard lock(machine.mutex());
        emulated::Stream& in = machine.stream(stream, emulated::current_device());
        const emulated::Card& card = machine.device(in.device).card;
        const auto run = [work, seconds_taken = card.launch_cycles / card.clock_hz](double& seconds) {
            work();
            seconds += seconds_taken;
        };
        machine.enqueue(in, {.run = run});
    };
}

}  // namespace

Descriptor device_from_json(const std::string&)
{
    return current_device();
}
std::string json_of(const Descriptor&)
{
    return "{}";
}
bool offers(const Settings& settings, const Descriptor&)
{
    return settings.algorithm == Algorithm::gemm;
}

Plans::Plans(const gpu::Stream& stream, const Settings& settings, std::string device_model, Products& products)
    : stream_(stream), settings_(settings), device_model_(std::move(device_model)), products_(products)
{
}
Choice Plans::choose(const ConvolutionPass&)
{
    return by_loops();
}
Choice Plans::choose(const NormShape&)
{
    return {};
}
/// Without a trial, as what follows: what a real library may choose is always chosen here, cuDNN first.
Choice Plans::choose(const AttentionPass& pass)
{
    try {
        const std::vector<Engine> engines = engines_for(graph_of(pass), device_);
        if (!engines.empty()) {
            const Engine& engine = engines.front();
            const Plan plan = plan_of(engine, device_);
            chosen_.emplace_back(PlannedEngine{engine, plan});
            return {.plan = static_cast<int>(chosen_.size()) - 1,
                    .workspace = static_cast<std::size_t>(plan.workspace),
                    .implementation = "emulated: cudnn:" + engine.name};
        }
    } catch (const Unsupported&) {  // of this precision
    }
    try {
        return products_.by_products(pass, settings_.precision == Precision::tf32);
    } catch (const Unsupported&) {
        return {};
    }
}
bool Plans::reads_by_depth(const ConvolutionPass&)
{
    return true;
}
bool Plans::takes_moments(const ConvolutionPass&)
{
    return true;
}
std::function<void()> PlansByNumber::bound(const Convolve& operation, const Memory& memory) const
{
    return in_stream(handle_.get(), [operation, memory] { convolve(operation, memory); });
}
std::function<void()> PlansByNumber::bound(const LibraryNorm&, const Memory&) const
{
    return {};
}
std::function<void()> PlansByNumber::bound(const LibraryNormGradient&, const Memory&) const
{
    return {};
}
std::function<void()> PlansByNumber::running(int number, std::vector<Address> addresses, void* workspace) const
{
    std::erase_if(addresses, [](const Address& one) { return one.at == nullptr; });
    return
        [pack = address_pack(addresses, workspace), plan = plans_.at(static_cast<std::size_t>(number))->plan.descriptor,
         handle = handle_.get()] { check(cudnnBackendExecute(handle, plan.get(), pack.get()), "attention"); };
}

}  // namespace roof::cudnn
