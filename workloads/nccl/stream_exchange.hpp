// The communication of one data-parallel step in CUDA streams: the same buckets, schedule and modes as on the CPU
// (workloads/parallel/exchange.hpp), ordered by events instead of waits of the host.
#pragma once

#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/schedule.hpp"

#include <cstddef>
#include <functional>

namespace roof::nccl {

/// What the exchange puts into streams; functions, so that the order can be tested where there is no GPU.
struct StreamOperations {
    /// Communication that is put in from now on begins after the work that the step's stream holds now.
    std::function<void()> communication_follows_step;
    /// The step's work that is put in from now on begins after the communication put in so far.
    std::function<void()> step_follows_communication;
    std::function<void(const parallel::Bucket& bucket, parallel::Reach reach)> mean;
    std::function<void()> broadcast_parameters;
};

class StreamExchange {
  public:
    StreamExchange(parallel::Packing packing, parallel::Mode mode, StreamOperations operations);

    /// Before the forward pass is put in.
    void begin();
    /// The gradient's last kernel has been put into the step's stream.
    void ready(std::size_t gradient);
    /// The whole backward pass has been put in; the update that follows waits for the means.
    void finish();

    const parallel::Packing& packing() const { return packing_; }

  private:
    parallel::Packing packing_;
    parallel::Mode mode_;
    StreamOperations operations_;
    parallel::Schedule schedule_;
};

}  // namespace roof::nccl
