#include "ert/gpu/probes/gpu_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/probes/capability.hpp"

namespace roof::gpu {

std::optional<std::string> GpuBench::unsupported_reason(const Point&, const Machine&, const Device& device) const
{
    return missing_capability(device, 80, "this build");
}

std::unique_ptr<Subject> GpuBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    const DeviceId id = id_of(device);
    const CurrentDevice current(id);
    return make_here(point, machine, device, id);
}

}  // namespace roof::gpu
