// Communication of a step in CUDA streams: buckets and modes as in workloads/parallel/exchange.hpp, ordered by events.
#pragma once

#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/schedule.hpp"

#include <cstddef>
#include <functional>

namespace roof::nccl {

/// Operations of the exchange on streams. They are functions, so that tests need no GPU.
struct StreamOperations {
    /// Communication enqueued from now on starts after the work that the step's stream contains now.
    std::function<void()> communication_follows_step;
    /// Step work enqueued from now on starts after the communication enqueued so far.
    std::function<void()> step_follows_communication;
    std::function<void(const parallel::Bucket& bucket, parallel::Reach reach)> mean;
    std::function<void()> broadcast_parameters;
};

class StreamExchange {
  public:
    StreamExchange(parallel::Packing packing, parallel::Mode mode, StreamOperations operations);

    /// Call it before the forward pass is enqueued.
    void begin();
    /// Call it after the gradient's last kernel is enqueued in the step's stream.
    void ready(std::size_t gradient);
    /// Call it after the whole backward pass is enqueued. The update waits for the means.
    void finish();

    const parallel::Packing& packing() const { return packing_; }

  private:
    parallel::Packing packing_;
    parallel::Mode mode_;
    StreamOperations operations_;
    parallel::Schedule schedule_;
};

}  // namespace roof::nccl
