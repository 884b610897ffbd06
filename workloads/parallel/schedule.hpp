// The order of all-reduces: a bucket's starts once all its gradients are ready and the buckets before it have
// started. All ranks so start them in one order, whatever the order in which gradients become ready.
#pragma once

#include "workloads/parallel/buckets.hpp"

#include <cstddef>
#include <vector>

namespace roof::parallel {

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
