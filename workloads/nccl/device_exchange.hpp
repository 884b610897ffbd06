// A step's gradient exchange on a GPU: a high-priority communication stream, ordered and timed by events.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/nccl/ranks.hpp"
#include "workloads/parallel/exchange.hpp"

#include <functional>
#include <memory>
#include <vector>

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

/// Buckets and modes as in workloads/parallel/exchange.hpp, ordered in CUDA streams by events.
class StreamExchange {
  public:
    StreamExchange(parallel::Packing packing, parallel::Mode mode, StreamOperations operations);

    /// Call it before the forward pass is enqueued.
    void begin();
    /// Call it after the gradient's last kernel is enqueued in the step's stream.
    void ready(std::size_t gradient);
    /// Call it after the whole backward pass is enqueued. The update waits for the means.
    void finish();

  private:
    parallel::Packing packing_;
    parallel::Mode mode_;
    StreamOperations operations_;
    parallel::Schedule schedule_;
};

/// Parameters that rank 0 sends in mode broadcast.
struct DeviceBytes {
    void* begin = nullptr;
    std::size_t bytes = 0;
};

struct DeviceExchangeOptions {
    parallel::Packing packing;  ///< of the gradients, in order of readiness
    parallel::Mode mode = parallel::Mode::overlapped;
    DeviceRange gradients;                ///< memory of the gradients; at least packing.count values
    std::vector<DeviceBytes> parameters;  ///< used in mode broadcast
};

class DeviceExchange {
  public:
    /// Uses the current device; `step` is the stream of the step's work. Throws Error.
    DeviceExchange(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step);
    DeviceExchange(const DeviceExchange&) = delete;
    DeviceExchange& operator=(const DeviceExchange&) = delete;

    /// As in StreamExchange, without waits. If captured into a graph with the step, cost() reports the last replay.
    void begin();
    void ready(std::size_t gradient) { exchange_.ready(gradient); }
    void finish() { exchange_.finish(); }

    /// Waits for the end of the step, checks for failed ranks, and returns the communication cost by device events.
    Communication cost() const;
    /// After the last step: gives each rank what the next would begin with, which in mode broadcast rank 0 sends, and waits.
    void complete_parameters() const;
    bool updates() const { return options_.mode != parallel::Mode::broadcast || ranks_->rank() == 0; }

  private:
    struct Interval {
        gpu::Event begin, end;
    };
    /// The intervals of one step, in order; a later step uses the events again.
    struct Intervals {
        std::vector<Interval> all;
        std::size_t used = 0;

        const Interval& next();
    };

    StreamOperations operations();
    template <class Put>
    void transfer(const Put& put);
    void mean(const parallel::Bucket& bucket, parallel::Reach reach);
    void broadcast(cudaStream_t stream) const;
    std::vector<parallel::Interval> times(const Intervals& intervals) const;

    std::shared_ptr<const Ranks> ranks_;
    DeviceExchangeOptions options_;
    cudaStream_t step_;
    gpu::Handle<CUstream_st, cudaStreamDestroy> communication_;
    gpu::Event begin_;
    gpu::Fork to_communication_, to_step_;
    Intervals transfers_, waits_;
    Bytes bytes_{};
    StreamExchange exchange_;
};

}  // namespace roof::nccl
