// Mapped memory on the host, zero at first, with a chosen page size and NUMA node.
#pragma once

#include "ert/base/units.hpp"

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace roof {

enum class Pages { huge, small };

/// Page size and NUMA node of a mapping.
struct Mapping {
    Pages pages = Pages::huge;
    std::optional<int> node{};  ///< binds to this NUMA node; default: the node of the first touch

    auto operator<=>(const Mapping&) const = default;
};

/// Unmaps the memory.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* data) const;
};

/// A mapping aligned to 2 MiB. Pages are allocated at first touch. The system may decline huge pages.
class Buffer {
  public:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    Buffer() = default;
    /// Throws OutOfMemory if there is too little memory, Unsupported if memory cannot be bound to the node.
    Buffer(std::size_t bytes, const std::string& what_for, const Mapping& mapping = {});

    std::byte* data() const { return data_.get(); }
    std::size_t size() const { return data_.get_deleter().bytes; }

  private:
    std::unique_ptr<std::byte, Unmap> data_;
};

/// `bytes` rounded up to whole huge pages.
constexpr std::size_t in_huge_pages(std::size_t bytes)
{
    return (bytes + Buffer::huge_page - 1) / Buffer::huge_page * Buffer::huge_page;
}

/// The bytes a mapping may still use: available_memory(), or the node's free memory if that is less.
Bytes available_for(const Mapping& mapping);

/// The NUMA node of the page at `address`, which must have been touched; nothing if the system does not report it.
std::optional<int> node_of(const std::byte* address);

}  // namespace roof
