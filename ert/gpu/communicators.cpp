// Constants are those of nccl.h, unchanged since version 2.14.
#include "ert/gpu/communicators.hpp"

#include "ert/base/error.hpp"
#include "ert/base/wait_limit.hpp"
#include "ert/gpu/device.hpp"

#include <string>

namespace roof::gpu {
namespace {

constexpr int type_of_float = 7;
constexpr int operation_sum = 0;

}  // namespace

Communicator::Communicator(std::shared_ptr<const Nccl> library, const std::vector<int>& devices)
    : library_(std::move(library)), devices_(devices)
{
    UniqueId id;
    library_->call("ncclGetUniqueId", &id);
    const int count = static_cast<int>(devices.size());
    ranks_.reserve(devices.size());  // up to 2.17 NCCL keeps the place of a communicator until the group's end
    library_->grouped([&] {
        for (int rank = 0; rank < count; ++rank) {
            const CurrentDevice current(DeviceId{devices[static_cast<std::size_t>(rank)]});
            ranks_.emplace_back(library_, count, id, rank);
        }
    });
    await();
}

void Communicator::enqueue_sum(const std::vector<Rank>& ranks, std::size_t count)
{
    try {
        library_->grouped([&] {
            for (std::size_t i = 0; i < ranks_.size(); ++i) {
                const void* const send = ranks[i].send;
                void* const receive = ranks[i].receive;
                library_->call("ncclAllReduce", send, receive, count, type_of_float, operation_sum, ranks_[i].get(),
                               ranks[i].stream);
            }
        });
        await();
    } catch (const Error&) {
        abort();
        throw;
    }
}

void Communicator::await() const
{
    for (const NcclRank& rank : ranks_)
        rank.await([&](Seconds waited) { limit(waited, [&](std::size_t i) { return ranks_[i].is_in_progress(); }); });
}

void Communicator::watch(const std::vector<Rank>& ranks, Seconds waited)
{
    try {
        for (const NcclRank& rank : ranks_) rank.await([](Seconds) {});
        limit(waited, [&](std::size_t i) { return cudaStreamQuery(ranks[i].stream) == cudaErrorNotReady; });
    } catch (const Error&) {
        abort();
        throw;
    }
}

void Communicator::limit(Seconds waited, const std::function<bool(std::size_t rank)>& is_waited_for) const
{
    if (waited < wait_limit()) return;
    std::string who;
    for (std::size_t i = 0; i < devices_.size(); ++i)
        if (is_waited_for(i)) who += (who.empty() ? "gpu:" : ", gpu:") + std::to_string(devices_[i]);
    give_up("NCCL", wait_limit(), who, {});
}

void Communicator::abort()
{
    has_failed_ = true;
    for (NcclRank& rank : ranks_) rank.abort();
}

std::shared_ptr<Communicator> Communicators::on(const std::vector<int>& devices)
{
    std::shared_ptr<Communicator>& known = known_[devices];
    if (known == nullptr || known->has_failed()) {
        known.reset();  // before the next is made: both would use the same devices
        known = std::make_shared<Communicator>(library_, devices);
    }
    return known;
}

}  // namespace roof::gpu
