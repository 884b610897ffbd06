#include "tests/emulated_gpu/device/block.hpp"

#include "tests/emulated_gpu/device/execution.hpp"

#include <algorithm>

namespace roof::emulated {

Block::Block(Execution& execution)
    : execution_(execution), shared_(execution.launch().code->shared_bytes + execution.launch().dynamic_shared)
{
    const u32 threads = execution.launch().block.count();
    warps_.resize((threads + 31) / 32);
    warpgroups_.resize((threads + 127) / 128);
}

void Block::begin(Dim place, u32 multiprocessor, std::shared_ptr<Cluster> cluster)
{
    cluster_ = std::move(cluster);
    rank_ = static_cast<u32>(cluster_->blocks.size());
    cluster_->blocks.push_back(this);
    cluster_->threads += static_cast<u32>(threads_.size());
    ended_ = 0;
    place_ = place;
    multiprocessor_ = multiprocessor;
    shared_.begin();
    for (const auto& thread : threads_) thread->begin();
    tensor_works_.assign(warpgroups_.size(), {});
    barriers_ = cluster_barriers_ = 0;
    warp_barriers_.assign(warps_.size(), 0);
    proxy_fences_.assign(threads_.size(), 0);
    mbarriers_.clear();
}

void Block::add_thread(Dim place, Fiber& fiber)
{
    const auto number = static_cast<u32>(threads_.size());
    threads_.push_back(std::make_unique<Thread>(*this, number, place, fiber));
    Thread* const thread = threads_.back().get();
    all_.members.push_back(thread);
    warps_[number / 32].members.push_back(thread);
    warpgroups_[number / 128].members.push_back(thread);
}

Group& Block::lanes(const Thread& thread, u32 mask)
{
    Group& group = lanes_[{thread.warp(), mask}];
    if (group.members.empty()) {
        for (Thread* member : warps_[thread.warp()].members) {
            if ((mask >> member->number() % 32 & 1) != 0) group.members.push_back(member);
        }
    }
    return group;
}

Moment Block::moment_of(const Thread& thread) const
{
    return {static_cast<u16>(thread.number()), warp_barriers_[thread.warp()], barriers_, proxy_fences_[thread.number()],
            cluster_barriers_};
}

void Block::init_mbarrier(u32 at, u32 count)
{
    shared_.at(at, 8);
    mbarriers_[at] = {count, count, 0, 0};
}

Block::Mbarrier& Block::mbarrier(u32 at)
{
    const auto found = mbarriers_.find(at);
    if (found == mbarriers_.end()) fail("an mbarrier that was not initialised");
    return found->second;
}

void Block::arrive(u32 at, u32 expected_bytes, bool counts)
{
    Mbarrier& barrier = mbarrier(at);
    barrier.bytes += expected_bytes;
    if (counts) {
        if (barrier.pending == 0) fail("an mbarrier gets more arrivals than it counts");
        --barrier.pending;
    }
    if (barrier.pending == 0 && barrier.bytes == 0) {
        ++barrier.phase;
        barrier.pending = barrier.count;
    }
}

void Block::bytes_came(u32 at, u32 bytes)
{
    mbarrier(at).bytes -= bytes;
    arrive(at, 0, false);
}

bool Block::advance_copies(std::mt19937& chance, bool must)
{
    bool any = false;
    const auto is_next = [this](std::size_t i) {
        return !copies_[i]->is_in_order || std::none_of(copies_.begin(), copies_.begin() + static_cast<long>(i),
                                                        [](const auto& copy) { return copy->is_in_order; });
    };
    while (!copies_.empty() && ((must && !any) || chance() % 3 == 0)) {
        std::size_t i = chance() % copies_.size();
        while (!is_next(i)) --i;
        const std::shared_ptr<Copy> copy = copies_[i];
        if (copy->read && !copy->has_read) {
            copy->read();
            copy->has_read = true;
        } else {
            copy->write();
            copy->has_read = copy->has_written = true;
            copies_.erase(copies_.begin() + static_cast<long>(i));
        }
        any = true;
    }
    return any;
}

void Block::check_end() const
{
    if (!copies_.empty()) fail("the block ends before a copy or a product that it began");
    if (!tensor_memory_.is_free()) fail("the block ends and has not given its tensor memory back");
    if (std::any_of(tensor_works_.begin(), tensor_works_.end(), [](const Warpgroup& work) { return !work.is_idle(); }))
        fail("the block ends before the products that it began");
}

}  // namespace roof::emulated
