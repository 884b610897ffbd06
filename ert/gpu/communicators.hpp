// NCCL between GPUs of this process, for the bench of its all-reduce.
#pragma once

#include "ert/gpu/nccl.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace roof::gpu {

/// One rank on each of several devices, all in this process.
class Communicator {
  public:
    /// `devices`: the runtime's numbers, each once. Throws Error, as all its functions after wait_limit(), naming the
    /// GPUs waited for.
    Communicator(std::shared_ptr<const Nccl> library, const std::vector<int>& devices);

    struct Rank {
        const float* send = nullptr;
        float* receive = nullptr;
        cudaStream_t stream = nullptr;
    };

    /// Puts one sum of `count` floats over all ranks into each rank's stream. `ranks` are in the order of the devices.
    /// Throws Error.
    void enqueue_sum(const std::vector<Rank>& ranks, std::size_t count);
    /// To be called while what was enqueued into `ranks` goes on.
    void watch(const std::vector<Rank>& ranks, Seconds waited);
    /// Whether a call has failed. NCCL does not recover from that.
    bool has_failed() const { return has_failed_; }

  private:
    void await() const;
    void limit(Seconds waited, const std::function<bool(std::size_t rank)>& is_waited_for) const;
    void abort();

    std::shared_ptr<const Nccl> library_;
    std::vector<int> devices_;
    std::vector<NcclRank> ranks_;
    bool has_failed_ = false;
};

/// The communicators of a run, one for each list of devices: making one takes NCCL seconds, and much longer with
/// several machines.
class Communicators {
  public:
    explicit Communicators(std::shared_ptr<const Nccl> library) : library_(std::move(library)) {}

    /// Makes it on first use, and anew after a failure. Throws Error.
    std::shared_ptr<Communicator> on(const std::vector<int>& devices);

  private:
    std::shared_ptr<const Nccl> library_;
    std::map<std::vector<int>, std::shared_ptr<Communicator>> known_;
};

}  // namespace roof::gpu
