// An array in device memory, and memory of the host that a GPU copies from and to.
#pragma once

#include "ert/gpu/handle.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roof::gpu {

namespace detail {

using Memory = Handle<void, cudaFree>;

/// Uninitialised memory of the current device. Throws OutOfMemory naming `what_for`, or Error.
Memory allocate(std::size_t bytes, const std::string& what_for);
void copy_in(void* device, const void* host, std::size_t bytes);
void copy_out(void* host, const void* device, std::size_t bytes);

}  // namespace detail

/// Elements of a trivially copyable type. Copies wait for their end.
template <class Element>
class Buffer {
  public:
    Buffer(std::size_t size, const std::string& what_for)
        : memory_(detail::allocate(size * sizeof(Element), what_for)), size_(size)
    {
    }

    Element* data() const { return static_cast<Element*>(memory_.get()); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(Element); }

    /// Overwrites the first elements with at most size() of `host`.
    void write(std::span<const Element> host) { detail::copy_in(data(), host.data(), host.size_bytes()); }
    std::vector<Element> read(std::size_t first, std::size_t count) const
    {
        std::vector<Element> host(count);
        detail::copy_out(host.data(), data() + first, count * sizeof(Element));
        return host;
    }

  private:
    detail::Memory memory_;
    std::size_t size_;
};

/// Pinned, so that a GPU's engines can access it, or pageable.
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
