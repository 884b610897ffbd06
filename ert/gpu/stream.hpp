// The owner of a CUDA stream.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace roof::gpu {

class Stream {
  public:
    /// On the current device; does not wait for the default stream. Throws Error.
    Stream();

    /// Waits until all work put in is done. Throws Error for whatever of it failed.
    void synchronize() const;
    cudaStream_t get() const { return handle_.get(); }

  private:
    struct Destroy {
        void operator()(cudaStream_t stream) const noexcept;
    };
    std::unique_ptr<CUstream_st, Destroy> handle_;
};

}  // namespace roof::gpu
