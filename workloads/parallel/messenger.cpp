#include "workloads/parallel/messenger.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace roof::parallel {
namespace {

class HostMessenger : public Messenger {
  public:
    HostMessenger(std::shared_ptr<Communicator> members, std::size_t count)
        : members_(std::move(members)), out_(members_->block(count)), in_(count)
    {
    }

    void fill(float value) override { std::ranges::fill(out_, value); }
    void reduce() override { members_->mean(out_, Reach::all); }
    void exchange(int to, int from) override
    {
        const auto in = std::as_writable_bytes(std::span(in_));
        members_->exchange(std::as_bytes(out_), to, in, from);
    }
    void wait() override {}  // each call waits
    std::vector<float> mean() const override { return {out_.begin(), out_.end()}; }
    std::vector<float> received() const override { return in_; }

  private:
    std::shared_ptr<Communicator> members_;
    std::span<float> out_;  ///< of `members_`
    std::vector<float> in_;
};

}  // namespace

Carrier host_carrier()
{
    return {.device_kind = "cpu",
            .lacking = [](const Device&) { return std::nullopt; },
            .make = [](std::shared_ptr<Communicator> members, std::size_t count,
                       const Device&) { return std::make_unique<HostMessenger>(std::move(members), count); },
            .library = [](const Communicator& hosts) { return hosts.transport; },
            .within_node = "memory"};
}

}  // namespace roof::parallel
