// Barriers in shared memory, and bulk copies that complete on them or in groups.
#include "tests/emulated_gpu/device/execution.hpp"

#include <algorithm>
#include <cstring>

namespace roof::emulated {

void Thread::mbarrier_init(u32 at, u32 count)
{
    block_.init_mbarrier(at, count);
}

void Thread::mbarrier_arrive(u32 at, u32 expected_bytes)
{
    block_.arrive(at, expected_bytes, true);
}

bool Thread::mbarrier_try_wait(u32 at, u32 parity)
{
    const auto is_over = [&] { return (block_.mbarrier(at).phase & 1) != (parity & 1); };
    if (!is_over()) wait(false);
    progressed |= is_over();
    return is_over();
}

namespace {

void check_aligned(u64 a, u64 b, u32 bytes)
{
    if (a % 16 != 0 || b % 16 != 0 || bytes % 16 != 0 || bytes == 0)
        throw Fault(Fault::Kind::misaligned, "a bulk copy that is not aligned to 16 bytes");
}

/// The whole range has to lie in one allocation.
std::byte* global_range(Execution& execution, u64 address, u32 bytes)
{
    std::byte* const begin = execution.global(address, 16);
    execution.global(address + bytes - 16, 16);
    return begin;
}

}  // namespace

void Thread::begin_load(u32 to, u32 bytes, u32 barrier, std::function<void(std::byte*)> bring)
{
    std::byte* const target = block_.shared().at(to, bytes);
    block_.mbarrier(barrier);
    block_.shared().begin_async(block_.moment_of(*this), to, bytes, true, block_.proxy_fences());
    block_.begin(std::make_shared<Copy>(Copy{{}, [=, &there = block_, bring = std::move(bring)] {
                                                 bring(target);
                                                 there.shared().end_async(to, bytes, true);
                                                 there.bytes_came(barrier, bytes);
                                             }}));
}

void Thread::bulk_load(u32 to, u64 from, u32 bytes, u32 barrier)
{
    check_aligned(to, from, bytes);
    Execution& execution = block_.execution();
    const std::byte* const source = global_range(execution, from, bytes);
    for (u32 i = 0; i < bytes; i += 128) execution.take_time_of_access(from + i, 128, multiprocessor(), true);
    begin_load(to, bytes, barrier, [=](std::byte* target) { std::memcpy(target, source, bytes); });
}

void Thread::bulk_store(u64 to, u32 from, u32 bytes)
{
    check_aligned(to, from, bytes);
    Execution& execution = block_.execution();
    std::byte* const target = global_range(execution, to, bytes);
    const std::byte* const source = block_.shared().at(from, bytes);
    block_.shared().begin_async(block_.moment_of(*this), from, bytes, false, block_.proxy_fences());
    for (u32 i = 0; i < bytes; i += 128) execution.take_time_of_access(to + i, 128, multiprocessor(), true);
    const auto staged = std::make_shared<std::vector<std::byte>>(bytes);
    Block* const block = &block_;
    auto copy = std::make_shared<Copy>(Copy{[=] {
                                                std::memcpy(staged->data(), source, bytes);
                                                block->shared().end_async(from, bytes, false);
                                            },
                                            [=] { std::memcpy(target, staged->data(), bytes); }});
    open_copies_.push_back(copy);
    block_.begin(std::move(copy));
}

void Thread::bulk_commit()
{
    // Those that are over need not be kept: no wait would wait for them.
    const auto is_written = [](const auto& group) {
        return std::all_of(group.begin(), group.end(), [](const auto& copy) { return copy->has_written; });
    };
    while (!copy_groups_.empty() && is_written(copy_groups_.front())) copy_groups_.erase(copy_groups_.begin());
    copy_groups_.push_back(std::move(open_copies_));
    open_copies_.clear();
}

void Thread::bulk_wait(u32 most_groups, bool only_read)
{
    const auto is_over = [only_read](const std::vector<std::shared_ptr<Copy>>& group) {
        return std::all_of(group.begin(), group.end(),
                           [=](const auto& copy) { return only_read ? copy->has_read : copy->has_written; });
    };
    // All but the youngest groups: whether a young one is over early does not count.
    for (;;) {
        const auto older = static_cast<long>(copy_groups_.size()) - static_cast<long>(most_groups);
        if (older <= 0 || std::all_of(copy_groups_.begin(), copy_groups_.begin() + older, is_over)) return;
        wait(false);
    }
}

}  // namespace roof::emulated
