// Host memory that a GPU copies from and to: pinned, so that its engines can access it, or pageable.
#pragma once

#include "ert/gpu/handle.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace roof::gpu {

class HostBuffer {
  public:
    enum class Pages { pinned, pageable };

    /// Pinned pages are also mapped for the devices. Throws OutOfMemory or Error.
    HostBuffer(std::size_t bytes, Pages pages);

    std::byte* data() const { return pinned_ ? static_cast<std::byte*>(pinned_.get()) : pageable_.get(); }
    std::size_t size() const { return bytes_; }

  private:
    std::size_t bytes_;
    Handle<void, cudaFreeHost> pinned_;
    std::unique_ptr<std::byte[]> pageable_;
};

}  // namespace roof::gpu
