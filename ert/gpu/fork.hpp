// An event without a clock, to fork one stream from another and to join them again.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::gpu {

class Fork {
  public:
    /// Of the current device, which `first` of order() must be a stream of. Throws Error.
    Fork();
    ~Fork();
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;

    /// What is put into `then` from here on waits for what was put into `first` so far. `then` may be of another
    /// device.
    void order(cudaStream_t first, cudaStream_t then) const;

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace roof::gpu
