// A step's gradient exchange on a GPU: a high-priority communication stream, ordered and timed by events.
#pragma once

#include "workloads/nccl/ranks.hpp"
#include "workloads/nccl/stream_exchange.hpp"
#include "workloads/parallel/account.hpp"

#include <memory>
#include <vector>

namespace roof::nccl {

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
    ~DeviceExchange();
    DeviceExchange(const DeviceExchange&) = delete;
    DeviceExchange& operator=(const DeviceExchange&) = delete;

    /// As in StreamExchange, without waits. If captured into a graph with the step, cost() reports the last replay.
    void begin();
    void ready(std::size_t gradient);
    void finish();

    /// Waits for the end of the step, checks for failed ranks, and returns the communication cost by device events.
    Communication cost() const;
    bool updates() const;

  private:
    class Streams;

    std::unique_ptr<Streams> streams_;
    StreamExchange exchange_;
};

}  // namespace roof::nccl
