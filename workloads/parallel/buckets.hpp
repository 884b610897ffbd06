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

/// The order of all-reduces: a bucket's starts once all its gradients are ready and the buckets before it have
/// started. All ranks so start them in one order, whatever the order in which gradients become ready.
class Schedule {
  public:
    /// `packing` must outlive the schedule.
    explicit Schedule(const Packing& packing);

    /// Forgets what is ready: a new backward pass begins.
    void restart();
    /// A gradient is ready; returns the buckets to start now, in order. Throws std::logic_error for one that was
    /// ready already.
    std::vector<std::size_t> ready(std::size_t gradient);
    /// Whether every bucket was returned by ready().
    bool complete() const { return next_ == packing_.buckets.size(); }

  private:
    const Packing& packing_;
    std::vector<std::size_t> bucket_of_;  ///< by gradient
    std::vector<bool> seen_;              ///< by gradient
    std::vector<std::size_t> missing_;    ///< by bucket: gradients that are not ready
    std::size_t next_ = 0;                ///< the bucket to start next
};

}  // namespace roof::parallel
