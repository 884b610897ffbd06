// Bench "link" of a GPU: transfers between host memory and the device.
//
// Launched    copies into the device's memory, out of it, or both at once on two streams. The driver copies pageable
//             memory through buffers of its own. zero_copy: a kernel that reads or writes pinned host memory itself.
// Saturates   PCIe, or whatever connects the two.
//             The host's memory lies on the NUMA node next to the GPU, where Linux tells which that is.
// Bytes       of the arrays, each once. Both ways at once: the sum of both.
// Time        device events around all copies; the second stream is forked from and joined to the first.
// Falsified   if what arrived is not what was sent.
#include "ert/base/error.hpp"
#include "ert/base/processors.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

#include <algorithm>
#include <span>

namespace roof::gpu {

namespace {

std::unique_ptr<Subject> make_host_copy(const GpuPoint& at)
{
    using enum HostBuffer::Pages;
    const std::string& operation = at.point.text("operation");
    Copies copies{array_bytes(at.point)};
    const auto on_host = [&] {
        return std::make_shared<HostBuffer>(copies.bytes, at.point.text("pages") == "pinned" ? pinned : pageable);
    };
    const auto on_device = [&](const char* what) { return std::make_shared<Buffer<std::byte>>(copies.bytes, what); };
    if (operation != "d2h") copies.add(on_device("an array to copy into"), on_host());
    if (operation != "h2d") copies.add(on_host(), on_device("an array to copy out of"));
    return make_copies(std::move(copies), at);
}

/// Pinned host memory.
Elsewhere on_host(std::size_t bytes)
{
    const auto memory = std::make_shared<HostBuffer>(bytes, HostBuffer::Pages::pinned);
    const std::span words(reinterpret_cast<float*>(memory->data()), bytes / sizeof(float));
    return {.data = memory->data(),
            .bytes = bytes,
            .fill =
                [words] {
                    for (std::size_t i = 0; i < words.size(); ++i) words[i] = expected_word(StreamOperation::load, i);
                },
            .check_stored =
                [words] {
                    const auto wrong = std::ranges::find_if(words, [](float word) { return word != stream_value; });
                    if (wrong != words.end())
                        throw Error("word " + std::to_string(wrong - words.begin()) + " was not written");
                },
            .memory = memory};
}

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "host to device, device to host, both at once, or a kernel's own accesses",
                      {"h2d", "d2h", "both", "zero_copy_load", "zero_copy_store"}),
            word_axis("pages", "of the host's memory", {"pinned", "pageable"}),
            word_axis("path", "to the host", {"host"}), array_axis()};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&)
{
    if (point.text("operation").starts_with("zero_copy") && point.text("pages") == "pageable")
        return "a kernel can access only pinned host memory";
    return std::nullopt;
}

std::unique_ptr<Subject> create(const GpuPoint& at)
{
    const OnProcessors near(processors_near(bus_id_of(at.id)));  // while the memory is made
    const std::string& operation = at.point.text("operation");
    if (!operation.starts_with("zero_copy")) return make_host_copy(at);
    return make_accesses(operation == "zero_copy_load" ? StreamOperation::load : StreamOperation::store,
                         on_host(array_bytes(at.point)), at);
}

}  // namespace

GpuBench link_bench(const Libraries&)
{
    return {.name = "link",
            .role = Role::bandwidth,
            .description =
                "Bytes copied between host memory and the device, or accessed by a kernel in pinned host memory; both "
                "ways at once count both.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = create};
}

}  // namespace roof::gpu
