// By Linux's futex, which puts waiters to sleep in the kernel: the standard library's atomic waits serve one process
// alone.
#include "workloads/parallel/barrier.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace roof::parallel {
namespace {

constexpr long watch_nanoseconds = 20'000'000;

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value)
{
    const timespec most{.tv_sec = 0, .tv_nsec = watch_nanoseconds};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &most, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void Barrier::pass(std::uint32_t ranks, const std::function<void()>& watch)
{
    const std::uint32_t before = opened.load();
    if (arrived.fetch_add(1) + 1 == ranks) {
        arrived.store(0);
        opened.store(before + 1);
        wake_all(opened);
        return;
    }
    while (opened.load() == before) {
        sleep_while(opened, before);
        if (opened.load() == before) watch();
    }
}

}  // namespace roof::parallel
