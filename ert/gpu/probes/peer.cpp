#include "ert/gpu/probes/peer.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/capability.hpp"
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

/// Where the two can reach each other's memory, copies take that way; else the driver's, through the host.
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

    void check(bool both) const
    {
        for (std::size_t i = 0; i < (both ? 2U : 1U); ++i) {
            const std::size_t bytes = sent[i].bytes();
            if (received[1 - i].read(0, bytes) != sent[i].read(0, bytes))
                throw Error("what arrived on the peer is not what was sent");
        }
    }

    std::vector<Buffer<std::byte>> sent;      ///< here, there
    std::vector<Buffer<std::byte>> received;  ///< here, there
};

class PeerBench final : public GpuBench {
  public:
    explicit PeerBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"peer", Role::bandwidth, "gpu",
                    "Bytes copied to the next GPU of the machine; both ways at once count both."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "operation",
                 .meaning = "to the next GPU, or both ways at once",
                 .defaults = {"copy", "both"},
                 .allowed = {"copy", "both"}},
                {.name = "path", .meaning = "to the peer", .defaults = {"peer"}, .allowed = {"peer"}},
                array_axis()};
    }

    std::optional<std::string> unsupported_reason(const Point&, const Machine& machine,
                                                  const Device& device) const override
    {
        if (neighbour_of(device, machine)) return missing_capability(device, 80, "this build");
        return "there is no other GPU in this machine";
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine& machine, const Device& device,
                                       DeviceId here) const override
    {
        const DeviceId there = *neighbour_of(device, machine);
        let_reach(here, there);
        let_reach(there, here);
        const bool both = point.text("operation") == "both";
        const auto ends = std::make_shared<PeerEnds>(array_bytes(point), here, there);
        std::vector<Copies::OneWay> ways{{ends->received[1].data(), ends->sent[0].data()}};
        if (both) ways.push_back({ends->received[0].data(), ends->sent[1].data()});
        return make_copies({array_bytes(point), std::move(ways), [ends, both] { ends->check(both); }}, here, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> peer_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<PeerBench>(std::move(nvml));
}

}  // namespace roof::gpu
