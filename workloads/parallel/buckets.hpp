// Gradients packed into buckets, so that each all-reduce is large enough: each bucket a range of one block in which the
// gradients lie in the order in which the backward pass makes them.
#pragma once

#include <cstddef>
#include <vector>

namespace roof::parallel {

/// A gradient as the packer sees it. `stage`: when it is ready, the lowest first.
struct GradientSize {
    std::size_t count = 0;  ///< numbers
    std::size_t stage = 0;
};

struct Bucket {
    std::size_t begin = 0;               ///< first number, from the block's begin
    std::size_t count = 0;               ///< numbers
    std::vector<std::size_t> gradients;  ///< their indices as given
};

struct Packing {
    std::vector<std::size_t> begins;  ///< by gradient: its first number in the block
    std::vector<Bucket> buckets;      ///< in the order in which they fill
    std::size_t count = 0;            ///< numbers of the whole block
};

/// Bytes of the first bucket: small, so that communication begins early, as in PyTorch's DistributedDataParallel.
inline constexpr std::size_t first_bucket_bytes = 1 << 20;

/// Gradients by stage, those of one stage from the last to the first. A bucket is closed once it holds `least_bytes`
/// or more (the first one: first_bucket_bytes, if that is less), so a gradient is never cut. Each begins at a
/// multiple of 64 bytes.
Packing pack(const std::vector<GradientSize>& gradients, std::size_t least_bytes);

}  // namespace roof::parallel
