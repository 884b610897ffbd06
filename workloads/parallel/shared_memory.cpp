#include "workloads/parallel/shared_memory.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/clock.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

namespace roof::parallel {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t page = 4096;
constexpr std::size_t slot_doubles = 1024;
constexpr std::size_t window_bytes = 1 << 20;
constexpr std::size_t message_bytes = 1024;
constexpr std::size_t group = 64;  // numbers: few enough for registers

/// The last to arrive releases all. All zero at first. By Linux's futex, which puts waiters to sleep in the kernel: the
/// standard library's atomic waits serve one process alone.
struct Barrier {
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<std::uint32_t> opened{0};  ///< times it has released all

    /// Waits until `ranks` have arrived. Calls `watch` some times a second, which throws to give up.
    void pass(std::uint32_t ranks, const std::function<void()>& watch)
    {
        constexpr timespec most{.tv_sec = 0, .tv_nsec = 20'000'000};
        const std::uint32_t before = opened.load();
        if (arrived.fetch_add(1) + 1 == ranks) {
            arrived.store(0);
            ++opened;
            syscall(SYS_futex, &opened, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
            return;
        }
        while (opened.load() == before) {
            syscall(SYS_futex, &opened, FUTEX_WAIT, before, &most, nullptr, 0);
            if (opened.load() == before) watch();
        }
    }
};

std::size_t in_pages(std::size_t bytes)
{
    return (bytes + page - 1) / page * page;
}

/// From one rank's block to the next: an odd multiple of 16 KiB. Memory's banks and the caches' sets repeat at larger
/// powers of two, and blocks that are such a distance apart are read at half the rate.
std::size_t distance_of_blocks(std::size_t bytes)
{
    constexpr std::size_t unit = 16384;
    return ((bytes + unit - 1) / unit | 1) * unit;
}

[[noreturn]] void throw_system(const std::string& what)
{
    throw Error(what + ": " + std::strerror(errno));
}

void* map(int descriptor, std::size_t bytes, std::size_t offset)
{
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset));
    if (at == MAP_FAILED) throw_system("memory shared by ranks cannot be mapped");
    return at;
}

void lengthen(int descriptor, std::size_t bytes)
{
    if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) throw_system("memory shared by ranks cannot be had");
}

struct Blocks {
    std::size_t apart;      ///< from one to the next, in numbers
    std::size_t count;      ///< two or more
    std::size_t receivers;  ///< the first ones
};

/// Replaces `count` numbers of each receiver, at most `group`, by the mean over all blocks, of which `first` is the
/// first one's.
[[gnu::always_inline]] inline void mean_group(float* first, Blocks blocks, std::size_t count)
{
    std::array<float, group> sums;
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) sums[i] = first[i];
    for (std::size_t other = 1; other < blocks.count; ++other) {
        const float* const values = first + other * blocks.apart;
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) sums[i] += values[i];
    }
    const float share = 1 / static_cast<float>(blocks.count);
    for (std::size_t other = 0; other < blocks.receivers; ++other) {
        float* const means = first + other * blocks.apart;
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) means[i] = share * sums[i];
    }
}

/// The same for any count: all blocks advance together, so that each is one stream for the prefetcher and a line is
/// written while it is in L1.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void mean_of(float* first, Blocks blocks,
                                                                                   std::size_t count)
{
    const std::size_t whole = count / group * group;
    for (std::size_t at = 0; at < whole; at += group) mean_group(first + at, blocks, group);
    mean_group(first + whole, blocks, count - whole);
}

}  // namespace

/// What all ranks share beside their blocks. A new file is zero, and so is every member. The two threads of a rank
/// use a barrier each.
struct SharedMemory::Header {
    int ranks;
    int owner;  ///< process id
    Barrier main;
    Barrier background;
    Counts at_main;  ///< how often each rank has come to the barrier
    Counts at_background;
    std::array<std::atomic<double>, most_ranks>
        seen;                             ///< when each rank last waited, by the clock that all processes share
    std::atomic<std::uint32_t> failures;  ///< 1: a message is being written; 2: it is there
    std::array<char, message_bytes> message;
    std::array<std::array<double, slot_doubles>, most_ranks> slots;
    std::array<std::byte, window_bytes> window;
};

std::shared_ptr<SharedMemory> SharedMemory::create(int ranks)
{
    if (ranks < 1 || ranks > most_ranks) throw Error("ranks on one machine: 1 to " + std::to_string(most_ranks));
    const int descriptor = memfd_create("roof-ranks", MFD_CLOEXEC);
    if (descriptor < 0) throw_system("memory shared by ranks cannot be had");
    lengthen(descriptor, in_pages(sizeof(Header)));
    std::shared_ptr<SharedMemory> memory = open(descriptor);
    close(descriptor);
    memory->header_->ranks = ranks;
    memory->header_->owner = getpid();
    return memory;
}

std::shared_ptr<SharedMemory> SharedMemory::open(int descriptor)
{
    struct stat status {};
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) throw_system("memory shared by ranks cannot be opened");
    const bool is_memory = fcntl(own, F_GET_SEALS) >= 0 && fstat(own, &status) == 0 &&
                           status.st_size >= static_cast<off_t>(in_pages(sizeof(Header)));
    if (!is_memory) {
        close(own);
        throw Error("descriptor " + std::to_string(descriptor) + " is no memory shared by ranks");
    }
    return std::shared_ptr<SharedMemory>(new SharedMemory(own, map(own, in_pages(sizeof(Header)), 0)));
}

SharedMemory::~SharedMemory()
{
    munmap(header_, in_pages(sizeof(Header)));
    close(descriptor_);
}

int SharedMemory::ranks() const
{
    return header_->ranks;
}

int SharedMemory::owner() const
{
    return header_->owner;
}

void SharedMemory::fail(const std::string& message) const
{
    std::uint32_t none = 0;
    if (!header_->failures.compare_exchange_strong(none, 1)) return;
    std::strncpy(header_->message.data(), message.c_str(), message_bytes - 1);
    header_->failures.store(2);
}

class SharedMemoryCommunicator : public Communicator {
  public:
    SharedMemoryCommunicator(std::shared_ptr<SharedMemory> memory, int own_rank, WaitOptions options)
        : Communicator(own_rank, memory->ranks(), "shared memory"),
          memory_(std::move(memory)),
          wait_(std::move(options))
    {
    }
    ~SharedMemoryCommunicator() override { munmap(blocks_.data(), blocks_.size()); }

    std::span<float> block(std::size_t count) override
    {
        const std::size_t each = distance_of_blocks(count * sizeof(float));
        const std::size_t begin = in_pages(sizeof(SharedMemory::Header));
        lengthen(memory_->descriptor(), begin + ranks() * each);
        blocks_ = {static_cast<std::byte*>(map(memory_->descriptor(), ranks() * each, begin)), ranks() * each};
        std::memset(own_block(), 0, each);
        return {own_block(), count};
    }

    void mean(std::span<float> range, Reach reach) override
    {
        if (size == 1) return;
        pass(header().background);
        const auto begin = static_cast<std::size_t>(range.data() - own_block());
        const std::size_t mine = static_cast<std::size_t>(rank);
        const std::size_t first = begin + range.size() * mine / ranks();
        const std::size_t last = begin + range.size() * (mine + 1) / ranks();
        const Blocks blocks{.apart = blocks_.size() / ranks() / sizeof(float),
                            .count = ranks(),
                            .receivers = reach == Reach::all ? ranks() : 1};
        mean_of(block_of(0) + first, blocks, last - first);
        pass(header().background);
    }

    void sum(std::span<double> values) override
    {
        for (std::size_t begin = 0; begin < values.size(); begin += slot_doubles)
            sum_slot(values.subspan(begin, std::min(slot_doubles, values.size() - begin)));
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        for (std::size_t begin = 0; begin < bytes.size(); begin += window_bytes) {
            const std::span<std::byte> some = bytes.subspan(begin, std::min(window_bytes, bytes.size() - begin));
            if (rank == root) std::memcpy(header().window.data(), some.data(), some.size());
            pass(header().main);
            if (rank != root) std::memcpy(some.data(), header().window.data(), some.size());
            pass(header().main);
        }
    }

    /// Of all ranks only: another one over the same memory, in place of this one's block.
    std::unique_ptr<Communicator> part(bool takes_part) override
    {
        std::array<double, 1> taking{takes_part ? 1.0 : 0.0};
        sum(taking);
        if (taking.front() < size) return Communicator::part(takes_part);
        return std::make_unique<SharedMemoryCommunicator>(memory_, rank, wait_);
    }

    void fail(const std::string& message) override { memory_->fail(message); }
    void watch(Seconds waited, const std::string& what) override
    {
        if (wait_.while_waiting) wait_.while_waiting();
        throw_failure();
        header().seen[static_cast<std::size_t>(rank)] = clock_().value;
        if (waited > wait_.limit) give_up(own_name(), wait_.limit, silent(), what);
    }

  private:
    std::size_t ranks() const { return static_cast<std::size_t>(size); }
    SharedMemory::Header& header() const { return *memory_->header_; }
    float* block_of(std::size_t of) const
    {
        return reinterpret_cast<float*>(blocks_.data() + of * (blocks_.size() / ranks()));
    }
    float* own_block() const { return block_of(static_cast<std::size_t>(rank)); }

    void sum_slot(std::span<double> values)
    {
        auto& slots = header().slots;
        std::ranges::copy(values, slots[static_cast<std::size_t>(rank)].begin());
        pass(header().main);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = 0;
            for (std::size_t other = 0; other < ranks(); ++other) values[i] += slots[other][i];
        }
        pass(header().main);
    }

    template <class IsMissing>
    std::string ranks_that(const IsMissing& are_missing) const
    {
        std::string who;
        for (std::size_t other = 0; other < ranks(); ++other)
            if (are_missing(other)) who += (who.empty() ? "rank " : ", ") + std::to_string(other);
        return who.empty() ? "the other ranks" : who;
    }

    /// The ranks that have not waited for a while: they are stopped, or still at work.
    std::string silent() const
    {
        const double long_ago = clock_().value - std::min(5.0, wait_.limit.value / 2);
        return ranks_that([&](std::size_t other) { return header().seen[other].load() < long_ago; });
    }

    std::string own_name() const { return "rank " + std::to_string(rank); }

    /// The ranks that have not come to the barrier.
    std::string missing_at(const SharedMemory::Counts& counts) const
    {
        const std::uint32_t own = counts[static_cast<std::size_t>(rank)].load();
        return ranks_that([&](std::size_t other) { return counts[other].load() < own; });
    }

    void pass(Barrier& barrier)
    {
        throw_failure();
        SharedMemory::Counts& counts = &barrier == &header().main ? header().at_main : header().at_background;
        ++counts[static_cast<std::size_t>(rank)];
        const Seconds begin = clock_();
        barrier.pass(static_cast<std::uint32_t>(header().ranks), [&] {
            watch({}, {});
            if (clock_() - begin > wait_.limit) give_up(own_name(), wait_.limit, missing_at(counts), {});
        });
    }

    /// A rank that is killed while it writes its message leaves the first state.
    void throw_failure() const
    {
        constexpr int most_milliseconds = 1000;
        const std::atomic<std::uint32_t>& failures = header().failures;
        for (int i = 0; i < most_milliseconds && failures == 1; ++i) std::this_thread::sleep_for(1ms);
        if (failures == 2) throw Error(header().message.data());
        if (failures == 1) throw Error("a rank failed, and was killed before it could say why");
    }

    std::shared_ptr<SharedMemory> memory_;
    WaitOptions wait_;
    Clock clock_ = steady_clock();
    std::span<std::byte> blocks_;  ///< of all ranks, one after the other
};

std::shared_ptr<Communicator> shared_memory_communicator(const std::shared_ptr<SharedMemory>& memory, int rank,
                                                         const WaitOptions& options)
{
    return std::make_shared<SharedMemoryCommunicator>(memory, rank, options);
}

}  // namespace roof::parallel
