// NCCL between processes with one GPU each. The hosts' communicator connects the ranks and reports one that has ended.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/nccl.hpp"
#include "workloads/parallel/communicator.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace roof::nccl {

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
    /// Waits until the other ranks are destroyed too, or fail. All graphs that captured this object must be destroyed before.
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

}  // namespace roof::nccl
