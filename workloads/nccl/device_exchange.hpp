// A step's exchange on a GPU, ready for an engine: a stream of high priority for communication, events between it and
// the step's stream, and the time that communication took, as the device tells it.
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
    parallel::Packing packing;  ///< of the gradients, in the order of readiness
    parallel::Mode mode = parallel::Mode::overlapped;
    DeviceRange gradients;                ///< the block they lie in; at least packing.count numbers
    std::vector<DeviceBytes> parameters;  ///< for mode broadcast
};

class DeviceExchange {
  public:
    /// On the current device; `step` is the stream of the step's work. Throws Error.
    DeviceExchange(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step);
    ~DeviceExchange();
    DeviceExchange(const DeviceExchange&) = delete;
    DeviceExchange& operator=(const DeviceExchange&) = delete;

    /// As StreamExchange has them; none waits. May be captured into a graph with the step: then cost() tells of the
    /// last replay.
    void begin();
    void ready(std::size_t gradient);
    void finish();

    /// Waits for the step's end, looking out for ranks that fail; what its communication cost, by the device's events.
    Communication cost() const;
    bool updates() const;

  private:
    class Streams;

    std::unique_ptr<Streams> streams_;
    StreamExchange exchange_;
};

}  // namespace roof::nccl
