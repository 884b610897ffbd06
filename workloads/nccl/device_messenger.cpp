
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/place.hpp"

#include <optional>
#include <string>
#include <utility>

namespace roof::nccl {
namespace {

constexpr const char* purpose = "messages between GPUs";

class DeviceMessenger : public parallel::Messenger {
  public:
    /// Collective over `members`.
    DeviceMessenger(std::shared_ptr<parallel::Communicator> members, std::size_t count, const Device& device)
        : device_(gpu::id_of(device)),
          out_(count, purpose),
          in_(count, purpose),
          ranks_(gpu::Nccl::open(), std::move(members), true)
    {
    }

    void fill(float value) override
    {
        wait();
        out_.write(std::vector<float>(out_.size(), value));
    }
    void reduce() override { ranks_.enqueue_mean({out_.data(), out_.size()}, parallel::Reach::all, stream_.get()); }
    void exchange(int to, int from) override
    {
        ranks_.enqueue_exchange(out_.data(), to, in_.data(), from, out_.bytes(), stream_.get());
    }
    void wait() override
    {
        try {
            ranks_.wait(stream_.get());
        } catch (...) {
            ranks_.abandon();  // or its destructor would wait for the failed rank
            throw;
        }
    }
    std::vector<float> mean() const override { return out_.read(0, out_.size()); }
    std::vector<float> received() const override { return in_.read(0, in_.size()); }

  private:
    gpu::CurrentDevice device_;
    gpu::Buffer<float> out_, in_;
    gpu::Stream stream_;
    Ranks ranks_;
};

/// Why NCCL cannot give each rank a GPU of its own, or nothing. `devices`: those that the ranks of this machine divide;
/// with one, every rank takes that one.
std::optional<std::string> lacking_devices(const parallel::Place& place, const Device& devices)
{
    const std::size_t gpus = devices.others.size() + 1;
    if (static_cast<std::size_t>(place.ranks_here) == gpus) return std::nullopt;
    return std::to_string(place.ranks_here) + " ranks were started on this machine for " + std::to_string(gpus) +
           (gpus == 1 ? " GPU" : " GPUs") + ": each wants its own, as --device gpu:0,1 gives them to two";
}

}  // namespace

parallel::Carrier device_carrier()
{
    return {.device_kind = "gpu",
            .lacking = [](const Device& device) -> std::optional<std::string> {
                if (auto lacking = lacking_devices(parallel::place_of_process(), device)) return lacking;
                if (gpu::Nccl::open() == nullptr) return "GPUs send messages by NCCL, and libnccl.so.2 was not found";
                return std::nullopt;
            },
            .make =
                [](std::shared_ptr<parallel::Communicator> members, std::size_t count, const Device& device) {
                    return std::make_unique<DeviceMessenger>(std::move(members), count, device);
                },
            .library = [](const parallel::Communicator&) { return "NCCL " + gpu::Nccl::open()->version(); },
            .within_node = "links between GPUs"};
}

}  // namespace roof::nccl
