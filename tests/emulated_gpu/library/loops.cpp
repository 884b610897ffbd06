// In place of cuDNN behind the engine's own interface: loops on the host, in the order of the stream. The engine offers them
// every convolution; batch norms stay with its own kernels. Of workloads/cudnn/library, only what does not call cuDNN is
// linked beside this one.
#include "tests/cudnn/device_json.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/plans.hpp"

extern "C" cudnnStatus_t cudnnDestroy(cudnnHandle_t)
{
    return CUDNN_STATUS_SUCCESS;
}

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
std::function<void()> in_stream(cudaStream_t stream, const Work& work)
{
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

std::string library_version()
{
    return "none (emulated)";
}
Descriptor::Descriptor(cudnnBackendDescriptorType_t) {}
Descriptor current_device()
{
    return Descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
}
Descriptor device_from_json(const std::string&)
{
    return current_device();
}
std::string json_of(const Descriptor&)
{
    return "{}";
}
bool offers(Algorithm algorithm, const Settings&, const Descriptor&)
{
    return algorithm == Algorithm::gemm;
}

/// The handle is the stream itself, which cudnnDestroy() leaves alone.
Handle::Handle(cudaStream_t stream) : handle_(reinterpret_cast<cudnnHandle_t>(stream)) {}

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
/// No trial: what a real library may choose is always chosen here.
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
    return in_stream(reinterpret_cast<cudaStream_t>(handle_.get()),
                     [operation, memory] { convolve(operation, memory); });
}
std::function<void()> PlansByNumber::bound(const LibraryNorm&, const Memory&) const
{
    return {};
}
std::function<void()> PlansByNumber::bound(const LibraryNormGradient&, const Memory&) const
{
    return {};
}

}  // namespace roof::cudnn
