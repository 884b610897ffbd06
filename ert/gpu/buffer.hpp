// The owner of a stretch of device memory. Kernels take the pointer and the length; nobody else frees it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roof::gpu {

namespace detail {

struct Free {
    void operator()(void* memory) const noexcept;
};
using Memory = std::unique_ptr<void, Free>;

/// `bytes` of memory of the current device, not initialised. Throws OutOfMemory naming `what_for`, or Error.
Memory allocate(std::size_t bytes, const std::string& what_for);
void copy_in(void* device, const void* host, std::size_t bytes);
void copy_out(void* host, const void* device, std::size_t bytes);

}  // namespace detail

/// `size()` elements of a type that may be copied byte by byte. Copies wait for their end.
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

    /// `host` holds at most size() elements; they become the first ones.
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

}  // namespace roof::gpu
