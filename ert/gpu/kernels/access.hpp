// Host interface of the kernels of the "access" bench: words of 4 bytes, at a distance from one another, past the L1.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

enum class AccessKind {
    load,          ///< ld.global.cg of each word
    atomic_add,    ///< of 1 to each word, without a result, in the L2
    atomic_share,  ///< as many, all to the first word
    fetch_add,     ///< as atomic_add, and the sums get what each returns: the word before it
    fetch_share,   ///< as atomic_share, likewise
};
constexpr bool returns(AccessKind kind)
{
    return kind != AccessKind::atomic_add && kind != AccessKind::atomic_share;
}
constexpr bool shares(AccessKind kind)
{
    return kind == AccessKind::atomic_share || kind == AccessKind::fetch_share;
}

inline constexpr int most_access_threads = 1024;  ///< of a block
inline constexpr int access_unroll = 4;           ///< words of a thread in flight at once

/// Neighbouring threads access words `stride` apart: first words 0, stride, 2 stride, …, then 1, stride + 1, …, so that
/// a pass accesses each word once.
struct AccessLaunch {
    std::uint32_t* words = nullptr;
    std::uint32_t* sums = nullptr;  ///< of what is returned: [block][thread], modulo 2^32
    std::size_t count = 0;          ///< of the words, a multiple of the stride
    unsigned stride = 1;            ///< words
    ClockReading* reading = nullptr;
    int blocks = 1;
    int threads = most_access_threads;  ///< of a block
    int passes = 1;
};

/// Word i before the loads.
constexpr std::uint32_t access_word(std::uint32_t index)
{
    return index * 2654435761u + 12345u;
}

/// The sum of the first `count` words, modulo 2^32.
constexpr std::uint32_t sum_of_access_words(std::size_t count)
{
    const std::size_t pairs = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    return static_cast<std::uint32_t>(pairs) * 2654435761u + static_cast<std::uint32_t>(count) * 12345u;
}

/// The sum of what `passes` passes return, modulo 2^32: of additions of 1 the numbers from 0 on, of each word or of the
/// one that is shared.
constexpr std::uint32_t sum_of_accesses(AccessKind kind, std::size_t count, std::uint32_t passes)
{
    const auto below = [](std::uint64_t n) {
        return static_cast<std::uint32_t>(n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n);
    };
    if (kind == AccessKind::load) return passes * sum_of_access_words(count);
    return kind == AccessKind::fetch_share ? below(std::uint64_t{count} * passes)
                                           : static_cast<std::uint32_t>(count) * below(passes);
}

/// Writes access_word() into the words, or 0 for atomics. Throws Error.
void enqueue_access_fill(AccessKind kind, std::uint32_t* words, std::size_t count, cudaStream_t stream);
/// With so many threads in a block.
Kernel<AccessLaunch> access_kernel_of(AccessKind kind, int threads);

}  // namespace roof::gpu
