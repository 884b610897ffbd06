// A tensor of a training step: its shape, and where its memory is.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/convolution.hpp"

#include <cstddef>

namespace roof::ir {

/// On a GPU value (n, y, x, c) is at ((n * height + y) * width + x) * channels + c; on a CPU the executor lays out.
struct Tensor {
    int batch = 0;
    int channels = 1;
    int height = 1;
    int width = 1;
    Precision precision = Precision::fp32;  ///< fp32, bf16 or fp16; int8 for bytes of any meaning
    int block = -1;                         ///< block of the memory plan; -1: no tensor
    std::size_t begin = 0;                  ///< byte offset in the block
    int like = -1;  ///< of a gradient: the block of its values, which have the layout that it is read in

    explicit operator bool() const { return block >= 0; }
    /// Returns the number of values per channel: the positions of all images.
    std::size_t rows() const
    {
        return static_cast<std::size_t>(batch) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
    }
    std::size_t elements() const { return rows() * static_cast<std::size_t>(channels); }
    std::size_t bytes() const { return elements() * static_cast<std::size_t>(traits(precision).storage_bytes); }
};

/// The least multiple that is at least the number.
template <class Number>
constexpr Number up_to_multiple(Number number, Number of)
{
    return (number + of - 1) / of * of;
}

/// Returns the number of slabs of rows for a sum. Slabs are summed first, then their sums, always in the same order. A
/// slab is what a block sums of its channels: there are as many blocks for few channels as for many.
constexpr std::size_t slabs_of(std::size_t rows, std::size_t channels)
{
    constexpr std::size_t least_rows = 64;
    constexpr std::size_t most_blocks = 256;
    constexpr std::size_t channels_of_block = 64;
    const std::size_t column_blocks = (channels + channels_of_block - 1) / channels_of_block;
    const std::size_t most = most_blocks > column_blocks ? most_blocks / column_blocks : 1;
    const std::size_t slabs = (rows + least_rows - 1) / least_rows;
    return slabs < most ? slabs : most;
}

/// The sums of slabs of this tensor's rows, `parts` of them per channel, without memory.
inline Tensor partial_sums_of(const Tensor& summed, int parts = 2)
{
    const std::size_t slabs = slabs_of(summed.rows(), static_cast<std::size_t>(summed.channels));
    return {.batch = static_cast<int>(slabs), .channels = parts * summed.channels};
}

/// The same values as images of one position each.
inline Tensor as_rows(Tensor map)
{
    map.batch = static_cast<int>(map.rows());
    map.height = map.width = 1;
    return map;
}

/// The maps of a batch, without memory.
inline Tensor maps_of(int batch, const model::Shape& map, Precision precision)
{
    return {.batch = batch, .channels = map.channels, .height = map.height, .width = map.width, .precision = precision};
}

}  // namespace roof::ir
