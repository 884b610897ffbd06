// A step's gradient exchange on a GPU: a high-priority communication stream, ordered and timed by events.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/nccl.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/parallel/communicator.hpp"
#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/network_bench.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace roof::nccl {

// NCCL between processes with one GPU each. The hosts' communicator connects the ranks and reports one that has ended.

/// A range of values in the memory of the current device.
struct DeviceRange {
    void* begin = nullptr;
    std::size_t count = 0;
    Precision precision = Precision::fp32;  ///< fp32, fp16 or bf16
};

class Ranks {
  public:
    /// Joins the other ranks on the current device. Collective. Throws Error.
    /// `waits`: as for NcclRank; then only wait() ends where a rank does not come.
    Ranks(std::shared_ptr<const gpu::Nccl> library, std::shared_ptr<parallel::Communicator> hosts, bool waits = false);
    /// Waits until the other ranks are destroyed too, or fail. All graphs that captured this object must be destroyed
    /// before.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    int rank() const { return hosts_->rank; }
    int size() const { return hosts_->size; }

    /// Enqueues a mean over all ranks, in place; with Reach::first only rank 0 receives it. Ranks must make the same
    /// calls in the same order. Throws Error.
    void enqueue_mean(const DeviceRange& range, parallel::Reach reach, cudaStream_t stream) const;
    /// Enqueues a copy of rank 0's bytes to all ranks.
    void enqueue_broadcast(void* begin, std::size_t bytes, cudaStream_t stream) const;
    /// Enqueues a message to rank `to` and one from rank `from`, at once; a negative rank: nothing.
    void enqueue_exchange(const void* out, int to, void* in, int from, std::size_t bytes, cudaStream_t stream) const;
    /// Waits for the work in the stream. All waits throw Error where another rank failed, or after wait_limit().
    void wait(cudaStream_t stream) const;
    /// Ends enqueued communication without the other ranks, after one has failed. Enqueue nothing afterwards.
    void abandon() { own_.abort(); }

  private:
    /// To be called while one waits for what the text names.
    gpu::WhileWaiting watch(const char* what) const;
    /// Calls NCCL's function of this name and waits until it has done all that concerns the host.
    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const;

    std::shared_ptr<const gpu::Nccl> library_;
    std::shared_ptr<parallel::Communicator> hosts_;
    gpu::NcclRank own_;
};

/// Returns NCCL's number of the type. Throws Unsupported for types that gradients do not use.
int nccl_type(Precision precision);

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

    /// As in ExchangeOrder, without waits. If captured into a graph with the step, cost() reports the last replay.
    void begin();
    void ready(std::size_t gradient) { order_.ready(gradient); }
    void finish() { order_.finish(); }

    /// Waits for the end of the step, checks for failed ranks, and returns the communication cost by device events.
    Communication cost() const;
    /// After the last step: gives each rank what the next would begin with, which in mode broadcast rank 0 sends, and
    /// waits.
    void complete_parameters() const;
    std::size_t buckets() const { return options_.packing.buckets.size(); }
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

    parallel::ExchangeOperations operations();
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
    gpu::Event to_communication_{false}, to_step_{false};
    Intervals transfers_, waits_;
    Bytes bytes_{};
    parallel::ExchangeOrder order_;
};

/// Messages of the bench `network` from GPU to GPU by NCCL.
parallel::Carrier device_carrier();

}  // namespace roof::nccl
