// A CUDA stream, and the order of work between two streams.
#pragma once

#include "ert/gpu/handle.hpp"

#include <cuda_runtime_api.h>

namespace roof::gpu {

class Stream {
  public:
    /// On the current device; does not wait for the default stream. Throws Error.
    Stream();

    /// Waits until all work in the stream is done. Throws Error if any of it failed.
    void synchronize() const;
    cudaStream_t get() const { return handle_.get(); }

  private:
    Handle<CUstream_st, cudaStreamDestroy> handle_;
};

/// An event without a clock, to fork one stream from another and to join them again.
class Fork {
  public:
    /// On the current device. Throws Error.
    Fork();

    /// Work enqueued into `then` from here on waits for the work enqueued into `first` so far. `first` is on the device
    /// of the fork; `then` may be on another.
    void order(cudaStream_t first, cudaStream_t then) const;

  private:
    EventHandle event_;
};

}  // namespace roof::gpu
