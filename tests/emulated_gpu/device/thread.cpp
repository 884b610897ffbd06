#include "tests/emulated_gpu/device/thread.hpp"
#include "tests/emulated_gpu/device/mma_shapes.hpp"

#include "tests/emulated_gpu/device/execution.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace roof::emulated {

Thread::Thread(Block& block, u32 number, Dim place, Fiber& fiber)
    : index(place),
      block_(block),
      fiber_(fiber),
      arguments_(block.execution().launch().arguments.data()),
      number_(number)
{
}

const Dim& Thread::block_size() const
{
    return block_.execution().launch().block;
}
const Dim& Thread::block_index() const
{
    return block_.place();
}
const Dim& Thread::grid_size() const
{
    return block_.execution().launch().grid;
}
u32 Thread::multiprocessor() const
{
    return block_.multiprocessor();
}
u32 Thread::multiprocessor_number() const
{
    return block_.execution().device().card.first_multiprocessor + multiprocessor();
}
u64 Thread::cycle()
{
    seconds_of_cycle_ = block_.execution().seconds();
    return static_cast<u64>(*seconds_of_cycle_ * block_.execution().device().card.clock_hz);
}
u64 Thread::nanosecond()
{
    const double seconds = std::exchange(seconds_of_cycle_, std::nullopt).value_or(block_.execution().seconds());
    return static_cast<u64>(seconds * 1e9);
}
void Thread::issue(u32 instructions)
{
    block_.execution().take_time_of_instructions(instructions);
}
void Thread::trap()
{
    fail("a trap");
}

void Thread::begin()
{
    has_ended = is_in_meeting = progressed = false;
    seconds_of_cycle_.reset();
    awaited_meeting_.reset();
    open_copies_.clear();
    copy_groups_.clear();
    tensor_stores_.clear();
    tensor_loads_.clear();
}

void Thread::wait(bool has_progressed)
{
    progressed |= has_progressed;
    fiber_.wait();
}

void Thread::resume()
{
    progressed = false;
    fiber_.resume();
}

template <std::size_t bytes>
void Thread::read_global(u64 address, void* to, int line, bool past_l1)
{
    line_ = line;
    Execution& execution = block_.execution();
    const std::byte* const from = execution.global(address, bytes);
    block_.delayed().flush_overlapping(address, bytes);
    std::memcpy(to, from, bytes);
    if (execution.races() != nullptr) check_race(GlobalRaces::Kind::read, address, bytes);
    execution.take_time_of_access(address, bytes, multiprocessor(), past_l1);
    if (execution.is_turn_over()) wait(true);
}

template <std::size_t bytes>
void Thread::write_global(u64 address, const void* from, int line)
{
    line_ = line;
    Execution& execution = block_.execution();
    std::byte* const to = execution.global(address, bytes);
    block_.delayed().flush_overlapping(address, bytes);
    if (execution.races() != nullptr) check_race(GlobalRaces::Kind::write, address, bytes);
    std::array<std::byte, bytes> value;
    std::memcpy(value.data(), from, bytes);
    if (execution.spoils()) value.front() ^= std::byte{1};
    constexpr unsigned one_in = 4;
    if (execution.chance()() % one_in == 0)
        block_.delayed().add(address, value.data(), bytes, execution.chance());
    else
        std::memcpy(to, value.data(), bytes);
    execution.take_time_of_access(address, bytes, multiprocessor(), true);
    if (execution.is_turn_over()) wait(true);
}

template <std::size_t bytes>
void Thread::read_shared(u32 address, void* to, int line)
{
    line_ = line;
    const std::byte* const from = block_.shared().at(address, bytes);
    if (block_.execution().is_turn_over()) wait(true);
    block_.shared().read_by(block_.moment_of(*this), address, bytes);
    block_.execution().take_time_of_shared(bytes);
    std::memcpy(to, from, bytes);
}

template <std::size_t bytes>
void Thread::write_shared(u32 address, const void* from, int line)
{
    line_ = line;
    std::byte* const to = block_.shared().at(address, bytes);
    if (block_.execution().is_turn_over()) wait(true);
    block_.shared().written_by(block_.moment_of(*this), address, bytes);
    block_.execution().take_time_of_shared(bytes);
    std::memcpy(to, from, bytes);
}

u32 Thread::cluster_rank() const
{
    return block_.rank();
}
u32 Thread::cluster_size() const
{
    return static_cast<u32>(block_.cluster().blocks.size());
}

void Thread::cluster_arrive()
{
    Cluster& cluster = block_.cluster();
    if (awaited_meeting_) fail("a thread arrives twice at the barrier of its cluster");
    block_.delayed().flush_all();
    awaited_meeting_ = cluster.meetings;
    progressed = true;
    if (++cluster.arrived < cluster.threads) return;
    cluster.arrived = 0;
    ++cluster.meetings;
    Execution& execution = block_.execution();
    for (Block* const block : cluster.blocks) {
        if (block == nullptr) continue;
        block->count_cluster_barrier();
        if (execution.races() != nullptr) execution.races()->barrier(execution.number_of(block->place()));
    }
}

void Thread::cluster_wait()
{
    if (!awaited_meeting_) fail("a thread waits at the barrier of its cluster and has not arrived");
    while (block_.cluster().meetings == *awaited_meeting_) wait(false);
    awaited_meeting_.reset();
}

template void Thread::read_global<1>(u64, void*, int, bool);
template void Thread::read_global<2>(u64, void*, int, bool);
template void Thread::read_global<4>(u64, void*, int, bool);
template void Thread::read_global<8>(u64, void*, int, bool);
template void Thread::read_global<16>(u64, void*, int, bool);
template void Thread::write_global<1>(u64, const void*, int);
template void Thread::write_global<2>(u64, const void*, int);
template void Thread::write_global<4>(u64, const void*, int);
template void Thread::write_global<8>(u64, const void*, int);
template void Thread::write_global<16>(u64, const void*, int);
template void Thread::read_shared<1>(u32, void*, int);
template void Thread::read_shared<2>(u32, void*, int);
template void Thread::read_shared<4>(u32, void*, int);
template void Thread::read_shared<8>(u32, void*, int);
template void Thread::read_shared<16>(u32, void*, int);
template void Thread::write_shared<1>(u32, const void*, int);
template void Thread::write_shared<2>(u32, const void*, int);
template void Thread::write_shared<4>(u32, const void*, int);
template void Thread::write_shared<8>(u32, const void*, int);
template void Thread::write_shared<16>(u32, const void*, int);

void* Thread::atomic_place(u64 address, std::size_t bytes, int line)
{
    line_ = line;
    wait(true);  // others may come first
    Execution& execution = block_.execution();
    std::byte* const at = execution.global(address, bytes);
    block_.delayed().flush_overlapping(address, bytes);
    if (execution.races() != nullptr) check_race(GlobalRaces::Kind::atomic, address, bytes);
    execution.take_time_of_access(address, bytes, multiprocessor(), true);
    return at;
}

template <class Work>
void Thread::meet(Group& group, int line, const Work& work)
{
    if (group.arrived == 0) group.line = line;
    if (group.line != line) fail("threads of a group meet at different instructions");
    const u32 meeting = group.meetings;
    if (++group.arrived < group.members.size()) {
        is_in_meeting = true;
        while (group.meetings == meeting) wait(true);
        return;
    }
    group.arrived = 0;
    ++group.meetings;
    progressed = true;
    for (Thread* member : group.members) member->is_in_meeting = false;
    work();
}

void Thread::meet_warp(const std::function<void()>& work)
{
    meet(block_.warp_of(*this), 0, work);
}

void Thread::barrier(u32 which, int line)
{
    if (which != 0) fail("a barrier other than the first");
    if (has_used_tensor_memory_) fail("a barrier after tcgen05 without tcgen05.fence::before_thread_sync");
    may_use_tensor_memory_ = false;
    meet(block_.all(), line, [this] {
        block_.count_barrier();
        Execution& execution = block_.execution();
        if (execution.races() != nullptr) execution.races()->barrier(execution.number_of(block_.place()));
    });
}

void Thread::warp_barrier(u32 lanes, int line)
{
    if ((lanes >> number_ % 32 & 1) == 0) fail("a lane waits at a barrier that does not name it");
    meet(block_.lanes(*this, lanes), line, [this] { block_.count_warp_barrier(warp()); });
}

u32 Thread::ballot(bool mine, u32 lanes, int line)
{
    if ((lanes >> number_ % 32 & 1) == 0) fail("a lane votes that is not named");
    u32 all = 0;
    registers = {&all, &mine, nullptr};
    Group& group = block_.lanes(*this, lanes);
    meet(group, line, [&] {
        u32 bits = 0;
        for (const Thread* one : group.members)
            bits |= u32{*static_cast<const bool*>(one->registers.a)} << one->number() % 32;
        for (const Thread* one : group.members) *static_cast<u32*>(one->registers.sums) = bits;
    });
    return all;
}

u32 Thread::shuffle_xor(u32 value, u32 distance, u32 clamp, u32 lanes, int line)
{
    if (clamp != 31) fail("a shuffle among less than a warp");
    if ((lanes >> number_ % 32 & 1) == 0) fail("a lane shuffles that is not named");
    u32 other = 0;
    registers = {&other, &value, nullptr};
    Group& group = block_.lanes(*this, lanes);
    meet(group, line, [&] {
        for (const Thread* member : group.members) {
            const auto is_other = [&](const Thread* one) { return one->number() == (member->number() ^ distance); };
            const auto from = std::find_if(group.members.begin(), group.members.end(), is_other);
            if (from == group.members.end()) fail("a lane reads one that is not named");
            *static_cast<u32*>(member->registers.sums) = *static_cast<const u32*>((*from)->registers.a);
        }
    });
    return other;
}

void Thread::fence()
{
    block_.delayed().flush_all();
    Execution& execution = block_.execution();
    if (execution.races() != nullptr)
        execution.races()->fence(execution.number_of(block_.place()), block_.moment_of(*this));
}

void Thread::check_race(GlobalRaces::Kind kind, u64 address, std::size_t bytes)
{
    Execution& execution = block_.execution();
    execution.races()->access(execution.number_of(block_.place()), block_.moment_of(*this), kind, address, bytes);
}

void Thread::proxy_fence()
{
    block_.count_proxy_fence(number_);
}

void Thread::mma_of_warp(const MmaShape& shape, Registers given, std::size_t register_bytes)
{
    registers = given;
    Group& warp = block_.warp_of(*this);
    meet(warp, shape.m * 1000 + shape.k, [&] {
        if (warp.members.size() != 32) fail("mma by less than a warp");
        multiply_fragments(shape, warp.members, register_bytes);
        const int products = is_of_eight_lanes(shape) ? 4 : 1;
        block_.execution().take_time_of_products(2.0 * products * rows_of(shape) * shape.n * shape.k, shape.format);
    });
}

void Thread::wgmma_of_warpgroup(const MmaShape& shape, u32* const* sums, std::size_t count,
                                const WgmmaOperands& operands, int line)
{
    std::vector<u32*> mine(sums, sums + count);
    registers = {&mine, &operands, nullptr};
    Group& group = block_.warpgroup_of(*this);
    meet(group, line, [&] {
        if (group.members.size() != 128) fail("wgmma by less than a warpgroup");
        std::vector<std::vector<u32*>> of_threads;
        for (const Thread* member : group.members) {
            of_threads.push_back(*static_cast<std::vector<u32*>*>(member->registers.sums));
            const auto& theirs = *static_cast<const WgmmaOperands*>(member->registers.a);
            if (theirs.a != operands.a || theirs.b != operands.b)
                fail("threads of a warpgroup name different operands");
        }
        Moment of_all = block_.moment_of(*this);
        of_all.thread = SharedMemory::several;
        block_.tensor_work_of(*this).begin(shape, operands, std::move(of_threads), block_.shared(),
                                           {of_all, block_.proxy_fences()});
        block_.execution().take_time_of_products(2.0 * shape.m * shape.n * shape.k, shape.format);
    });
}

void Thread::wgmma_fence()
{
    meet(block_.warpgroup_of(*this), -1, [this] { block_.tensor_work_of(*this).fence(); });
}

void Thread::wgmma_commit()
{
    meet(block_.warpgroup_of(*this), -2, [this] { block_.tensor_work_of(*this).commit(block_.execution().chance()); });
}

void Thread::wgmma_wait(u32 most_groups)
{
    meet(block_.warpgroup_of(*this), -3, [&] { block_.tensor_work_of(*this).wait(most_groups); });
}

}  // namespace roof::emulated
