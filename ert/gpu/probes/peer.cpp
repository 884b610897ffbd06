// Bench "peer" of a GPU: copies to another GPU of the machine, and back, and a kernel's own accesses to its memory.
//
// Launched    copies from one GPU's memory to the other's, or both ways at once on two streams. Where the two can reach
//             each other's memory the copies go directly, by NVLink or PCIe; else the driver passes them through the
//             host. read, write: one kernel of resident blocks that loads from, or stores to, the other's memory.
// Saturates   the links between the two.
// Bytes       of the arrays, each once. Both ways at once: the sum of both.
// Time        device events around all copies; the second stream is forked from and joined to the first.
// Falsified   if what arrived is not what was sent; if the sum of what was read, or a word written, is not the host's.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

constexpr std::string_view to_number = "peer:";  ///< "peer:2" is gpu:2; "peer" alone is the next GPU

std::vector<std::string> gpus_of(const Machine& machine)
{
    std::vector<std::string> names;
    for (const Device& device : machine.devices) {
        if (device.kind == "gpu") names.push_back(device.name);
    }
    return names;
}

/// The name of the other GPU: the one of the path's number, or the one after this, the first after the last.
std::string peer_of(const std::string& path, const Device& device, const Machine& machine)
{
    if (path.starts_with(to_number)) return "gpu:" + path.substr(to_number.size());
    const std::vector<std::string> names = gpus_of(machine);
    const auto at = std::ranges::find(names, device.name);
    return at == names.end() || std::next(at) == names.end() ? names.front() : *std::next(at);
}

/// Returns whether it is possible.
bool let_reach(DeviceId from, DeviceId to)
{
    const CurrentDevice current(from);
    int reaches = 0;
    check(cudaDeviceCanAccessPeer(&reaches, from.value, to.value));
    if (reaches == 0) return false;
    const cudaError_t status = cudaDeviceEnablePeerAccess(to.value, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
    else
        check(status);
    return true;
}

/// Memory of the other GPU.
Elsewhere on_peer(std::size_t bytes, DeviceId there)
{
    const CurrentDevice current(there);
    const auto memory = std::make_shared<Buffer<float>>(bytes / sizeof(float), "an array for a peer");
    return {.data = memory->data(),
            .bytes = bytes,
            .on_devices = Bytes{static_cast<double>(bytes)},
            .fill =
                [memory, there] {
                    const CurrentDevice filled(there);
                    const Stream stream;
                    enqueue_fill(memory->data(), memory->bytes() / vector_bytes, 0, 0, stream.get());
                    stream.synchronize();
                },
            .check_stored =
                [memory] { check_words(*memory, "the peer's array", [](std::size_t) { return stream_value; }); },
            .memory = memory};
}

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "copies to the other GPU, or both ways at once, or a kernel's own accesses",
                      {"copy", "both", "read", "write"}),
            {.name = "path", .meaning = "peer: to the next GPU; peer:2: to gpu:2", .defaults = {"peer"}, .allowed = {}},
            array_axis()};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine, const Device& device)
{
    const std::string& path = point.text_or("path", "peer");
    const std::vector<std::string> names = gpus_of(machine);
    if (path != "peer" && (!path.starts_with(to_number) || !parse_number<int>(path.substr(to_number.size()))))
        return "the path '" + path + "' is neither peer nor peer:NUMBER";
    if (names.size() < 2) return "there is no other GPU in this machine";
    const std::string other = peer_of(path, device, machine);
    if (other == device.name) return "a GPU is no peer of itself";
    if (std::ranges::find(names, other) == names.end()) return "this machine has no device '" + other + "'";
    return std::nullopt;
}

std::unique_ptr<Subject> create(const GpuPoint& at)
{
    const DeviceId there = id_of(at.machine.device(peer_of(at.point.text("path"), at.device, at.machine)));
    const bool reach = let_reach(at.id, there) && let_reach(there, at.id);
    const std::string& operation = at.point.text("operation");
    if (operation == "read" || operation == "write") {
        if (!reach) throw Unsupported("the two GPUs cannot access each other's memory");
        return make_accesses(operation == "read" ? StreamOperation::load : StreamOperation::store,
                             on_peer(array_bytes(at.point), there), at);
    }
    Copies copies{array_bytes(at.point)};
    const auto array_on = [&](DeviceId id, const char* what) {
        const CurrentDevice current(id);
        return std::make_shared<Buffer<std::byte>>(copies.bytes, what);
    };
    const auto add = [&](DeviceId from, DeviceId to) {
        copies.add(array_on(to, "an array to copy from a peer"), array_on(from, "an array to copy to a peer"));
    };
    add(at.id, there);
    if (operation == "both") add(there, at.id);
    return make_copies(std::move(copies), at);
}

}  // namespace

GpuBench peer_bench(const Libraries&)
{
    return {.name = "peer",
            .role = Role::bandwidth,
            .description =
                "Bytes copied to another GPU of the machine, or accessed by a kernel in its memory; both ways at once "
                "count "
                "both.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = create};
}

}  // namespace roof::gpu
