// Host interface of the kernels of the "bandwidth" bench: passes over arrays by instructions of 16 bytes.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/kernels/launch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace roof::gpu {

enum class StreamOperation { load, store, copy, triad };

/// How the blocks share the arrays: each has its own stretch, which may stay in its L1; or all go along the arrays
/// together.
enum class StreamLayout { stretches, together };

struct StreamKernel {
    StreamOperation operation = StreamOperation::load;
    StreamLayout layout = StreamLayout::stretches;
    int threads = 512;     ///< of a block, one of stream_block_sizes
    bool past_l1 = false;  ///< loads alone: they find nothing in the L1, and leave nothing there
    /// 0: resident blocks go on through the arrays. Otherwise one of tile_unrolls: each block moves one tile of so many
    /// vectors per thread and ends. Device memory is faster with tiles, copies by 8% on an H100.
    int tile_unroll = 0;
};

inline constexpr std::array<int, 3> tile_unrolls{1, 2, 4};
/// Loads by tiles add their sums to this many.
inline constexpr int tile_sums = 1024;

inline constexpr std::array<int, 2> stream_block_sizes{512, 1024};
/// Vectors of a thread in flight at once.
inline constexpr int stream_unroll = 4;
inline constexpr int vector_bytes = 16;
inline constexpr int words_of_vector = vector_bytes / 4;

inline constexpr float stream_scale = 3;      ///< triad: out = a + stream_scale * b
inline constexpr float stream_value = 12345;  ///< what store writes

/// A thread takes every `step`-th vector from `first` to before `end`.
struct Stretch {
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t step = 1;
};

/// The stretch of one thread. The threads of all blocks together take each of `vectors` once.
constexpr Stretch stretch_of(StreamLayout layout, std::size_t vectors, int blocks, int block, int threads, int thread)
{
    const auto wide = [](int value) { return static_cast<std::size_t>(value); };
    if (layout == StreamLayout::together)
        return {wide(block) * wide(threads) + wide(thread), vectors, wide(blocks) * wide(threads)};
    const std::size_t begin = vectors * wide(block) / wide(blocks);
    return {begin + wide(thread), vectors * wide(block + 1) / wide(blocks), wide(threads)};
}

constexpr std::size_t tiles_of(std::size_t vectors, int unroll, int threads)
{
    const std::size_t tile = static_cast<std::size_t>(unroll) * static_cast<std::size_t>(threads);
    return (vectors + tile - 1) / tile;
}

/// The part of one thread in a tile.
constexpr Stretch stretch_in_tile(std::size_t vectors, int unroll, std::size_t tile, int threads, int thread)
{
    const auto wide = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t begin = tile * wide(unroll) * wide(threads);
    const std::size_t end = begin + wide(unroll) * wide(threads);
    return {begin + wide(thread), end < vectors ? end : vectors, wide(threads)};
}

/// Arrays that an operation does not use are null.
struct StreamLaunch {
    const void* a = nullptr;
    const void* b = nullptr;
    void* out = nullptr;
    /// load: [block][thread] or [tile_sums], of the words read as integers, modulo 2^32
    std::uint32_t* sums = nullptr;
    std::size_t vectors = 0;  ///< of each array
    ClockReading* reading = nullptr;
    int blocks = 0;  ///< with tiles: tiles_of() for each pass
    int passes = 1;
    /// A block's threads begin each pass together. Otherwise some run ahead, and find their own part of a set that does
    /// not fit into a cache still there.
    bool in_step = false;
    int readers = 1;     ///< of stretches: so many blocks in a row have the same part; divides the blocks
    bool timed = false;  ///< with tiles: loads leave no sums, which would cost as much as they show
};

Kernel<StreamLaunch> stream_kernel_of(const StreamKernel& kernel);

/// Word i of the array becomes the float of number_at((i + shift) % number_period), or `value` if `shift` is negative.
void enqueue_fill(void* array, std::size_t vectors, int shift, float value, cudaStream_t stream);

}  // namespace roof::gpu
