// Bench "link" of a GPU: transfers between host memory and the device.
//
// Launched    copies into the device's memory or out of it. The driver copies pageable memory through buffers of its
// own. Saturates   PCIe, or whatever connects the two.
//             The host's memory lies on the NUMA node next to the GPU, where Linux tells which that is.
// Bytes       of the array, once.
// Time        device events around all copies.
// Falsified   if what arrived is not what was sent.
#include "ert/base/processors.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

namespace roof::gpu {

namespace {

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "host to device, or device to host", {"h2d", "d2h"}),
            word_axis("pages", "of the host's memory", {"pinned", "pageable"}),
            word_axis("path", "to the host", {"host"}), array_axis()};
}

std::unique_ptr<Subject> create(const GpuPoint& at)
{
    using enum HostBuffer::Pages;
    const OnProcessors near(processors_near(bus_id_of(at.id)));  // while the memory is made
    const std::size_t bytes = array_bytes(at.point);
    const auto pages = at.point.text("pages") == "pinned" ? pinned : pageable;
    const auto on_host = memory_of(std::make_shared<HostBuffer>(bytes, pages));
    const auto on_device = memory_of(std::make_shared<Buffer<std::byte>>(bytes, "an array to copy into or out of"));
    const bool is_in = at.point.text("operation") == "h2d";
    return make_copies(bytes, is_in ? on_device : on_host, is_in ? on_host : on_device, at);
}

}  // namespace

GpuBench link_bench(const Libraries&)
{
    return {.name = "link",
            .role = Role::bandwidth,
            .description = "Bytes copied between host memory and the device.",
            .axes = axes,
            .create = create};
}

}  // namespace roof::gpu
