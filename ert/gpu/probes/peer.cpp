// Bench "peer" of a GPU: copies to the next GPU of the machine, and back.
//
// Launched    copies from one GPU's memory to the other's, or both ways at once on two streams. Where the two can reach
//             each other's memory the copies go directly, by NVLink or PCIe; else the driver passes them through the
//             host.
// Saturates   the links between the two.
// Bytes       of the arrays, each once. Both ways at once: the sum of both.
// Time        device events around all copies; the second stream is forked from and joined to the first.
// Falsified   if what arrived is not what was sent.
#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

/// The device after this one, the first after the last; nothing if there is no other.
std::optional<DeviceId> neighbour_of(const Device& device, const Machine& machine)
{
    std::vector<std::string> names;
    for (const Device& other : machine.devices) {
        if (other.kind == "gpu") names.push_back(other.name);
    }
    const auto at = std::ranges::find(names, device.name);
    if (names.size() < 2 || at == names.end()) return std::nullopt;
    Device other;
    other.name = std::next(at) == names.end() ? names.front() : *std::next(at);
    return id_of(other);
}

/// Where this is possible.
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

struct PeerEnds {
    PeerEnds(std::size_t bytes, DeviceId here, DeviceId there)
    {
        std::vector<std::byte> numbers(bytes);
        for (const DeviceId id : {here, there}) {
            const CurrentDevice current(id);
            fill_with_numbers(numbers.data(), bytes, static_cast<std::size_t>(id.value) + 1);
            sent.emplace_back(bytes, "an array to copy to a peer").write(numbers);
            received.emplace_back(bytes, "an array to copy from a peer");
        }
    }

    std::vector<Buffer<std::byte>> sent;      ///< here, there
    std::vector<Buffer<std::byte>> received;  ///< here, there
};

std::vector<Axis> axes(const Machine&)
{
    return {{.name = "operation",
             .meaning = "to the next GPU, or both ways at once",
             .defaults = {"copy", "both"},
             .allowed = {"copy", "both"}},
            {.name = "path", .meaning = "to the peer", .defaults = {"peer"}, .allowed = {"peer"}},
            array_axis()};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine, const Device& device)
{
    if (neighbour_of(device, machine)) return missing_for_all(point, machine, device);
    return "there is no other GPU in this machine";
}

std::unique_ptr<Subject> create(const GpuPoint& at)
{
    const DeviceId there = *neighbour_of(at.device, at.machine);
    let_reach(at.id, there);
    let_reach(there, at.id);
    const auto ends = std::make_shared<PeerEnds>(array_bytes(at.point), at.id, there);
    std::vector<Copies::OneWay> ways{{ends->received[1].data(), ends->sent[0].data()}};
    if (at.point.text("operation") == "both") ways.push_back({ends->received[0].data(), ends->sent[1].data()});
    return make_copies({array_bytes(at.point), std::move(ways), ends}, at);
}

}  // namespace

GpuBench peer_bench(const Libraries&)
{
    return {.name = "peer",
            .role = Role::bandwidth,
            .description = "Bytes copied to the next GPU of the machine; both ways at once count both.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = create};
}

}  // namespace roof::gpu
