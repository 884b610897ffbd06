// Bench "peer" of a GPU: copies to another GPU of the machine.
//
// Launched    copies from one GPU's memory to the other's. Where the two can reach each other's memory the copies go
//             directly, by NVLink or PCIe; else the driver passes them through the host.
// Saturates   the links between the two.
// Bytes       of the array, once.
// Time        device events around all copies.
// Falsified   if what arrived is not what was sent.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
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

/// Where it is possible.
void let_reach(DeviceId from, DeviceId to)
{
    const CurrentDevice current(from);
    int reaches = 0;
    check(cudaDeviceCanAccessPeer(&reaches, from.value, to.value));
    if (reaches == 0) return;
    const cudaError_t status = cudaDeviceEnablePeerAccess(to.value, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
    else
        check(status);
}

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "copies to the other GPU", {"copy"}),
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
    let_reach(at.id, there);
    let_reach(there, at.id);
    const std::size_t bytes = array_bytes(at.point);
    const auto array_on = [&](DeviceId id, const char* what) {
        const CurrentDevice current(id);
        return memory_of(std::make_shared<Buffer<std::byte>>(bytes, what));
    };
    return make_copies(bytes, array_on(there, "an array to copy from a peer"),
                       array_on(at.id, "an array to copy to a peer"), at);
}

}  // namespace

GpuBench peer_bench(const Libraries&)
{
    return {.name = "peer",
            .role = Role::bandwidth,
            .description = "Bytes copied to another GPU of the machine.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = create};
}

}  // namespace roof::gpu
