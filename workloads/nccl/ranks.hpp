// NCCL between processes that have a GPU each: means of gradients and copies of parameters, put into CUDA streams.
// The hosts' communicator connects them and reports when a rank has ended.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/nccl.hpp"
#include "workloads/parallel/communicator.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace roof::nccl {

/// A range of numbers in the current device's memory.
struct DeviceRange {
    void* begin = nullptr;
    std::size_t count = 0;
    Precision precision = Precision::fp32;  ///< fp32, fp16 or bf16
};

class Ranks {
  public:
    /// Joins the other ranks, on the current device. Collective. Throws Error.
    Ranks(std::shared_ptr<const gpu::Nccl> library, std::shared_ptr<parallel::Communicator> hosts);
    /// Waits until the other ranks let go, too, and all graphs are gone that it was captured into.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    int rank() const { return hosts_->rank; }
    int size() const { return hosts_->size; }

    /// Puts into the stream: the mean over all ranks takes the numbers' place, for Reach::first on rank 0 alone. All
    /// ranks put the same in the same order. Throws Error.
    void enqueue_mean(const DeviceRange& range, parallel::Reach reach, cudaStream_t stream) const;
    /// Puts into the stream: the bytes of rank 0 take the place of everybody's.
    void enqueue_broadcast(void* begin, std::size_t bytes, cudaStream_t stream) const;
    /// Throws Error if NCCL or the hosts' communicator has seen another rank fail; whoever waits for a stream asks
    /// now and then.
    void throw_if_failed() const;
    /// Ends what is in streams without waiting for the others, once a rank has failed. Nothing may be enqueued
    /// afterwards.
    void abandon();

  private:
    void check(int status, const char* what) const;

    std::shared_ptr<const gpu::Nccl> library_;
    std::shared_ptr<parallel::Communicator> hosts_;
    ncclComm* communicator_ = nullptr;
};

/// NCCL's number for the type. Throws Unsupported for those that gradients do not have.
int nccl_type(Precision precision);

}  // namespace roof::nccl
