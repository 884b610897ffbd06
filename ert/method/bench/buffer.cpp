// The mapping is one huge page too large. The bytes outside the aligned part are unmapped at once.
#include "ert/method/bench/buffer.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace roof {

namespace {

void bind(std::byte* begin, std::size_t bytes, int node)
{
    constexpr int bits = 8 * sizeof(unsigned long);
    std::array<unsigned long, 16> nodes{};  // in the kernel's format
    nodes.at(node / bits) = 1UL << node % bits;
    const unsigned long size = nodes.size() * bits + 1;  // the kernel ignores the last bit
    if (syscall(SYS_mbind, begin, bytes, MPOL_BIND, nodes.data(), size, 0) == 0) return;
    throw Unsupported("memory cannot be bound to NUMA node " + std::to_string(node) + ": " + std::strerror(errno));
}

/// Bytes that are free or cache files. The kernel kills a process bound to a full node, even if others have memory.
std::optional<double> free_on(int node)
{
    std::ifstream in = open_if_there("/sys/devices/system/node/node" + std::to_string(node) + "/meminfo");
    std::optional<double> bytes;
    std::string word;
    for (std::string key; in >> word >> word >> key;) {  // "Node 0 MemFree: 123 kB"
        double kibibytes = 0;
        in >> kibibytes;
        if (key == "MemFree:" || key == "Inactive(file):") bytes = bytes.value_or(0) + kibibytes * 1024;
        std::getline(in, word);
    }
    return bytes;
}

}  // namespace

Buffer::Buffer(std::size_t bytes, const std::string& what_for, const Mapping& mapping)
{
    const Bytes wanted{static_cast<double>(bytes)};
    const Bytes available = available_for(mapping);
    if (wanted > available) throw OutOfMemory(wanted, available, what_for);
    const std::size_t size = in_huge_pages(bytes);
    void* const mapped =
        mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw OutOfMemory(wanted, available, what_for);

    auto* const begin = static_cast<std::byte*>(mapped);
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::size_t skip = in_huge_pages(address) - address;
    if (skip > 0) munmap(begin, skip);
    if (skip < huge_page) munmap(begin + skip + size, huge_page - skip);
    data_ = std::unique_ptr<std::byte, Unmap>(begin + skip, Unmap{size});
    // Advice, which a kernel without huge pages rejects. Rates are lower without; the machine document has the mode.
    madvise(data_.get(), size, mapping.pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (mapping.node) bind(data_.get(), size, *mapping.node);
}

void Unmap::operator()(std::byte* data) const
{
    munmap(data, bytes);
}

Bytes available_for(const Mapping& mapping)
{
    const Bytes available = available_memory();
    const std::optional<double> on_node = mapping.node ? free_on(*mapping.node) : std::nullopt;
    return on_node ? std::min(available, Bytes{*on_node}) : available;
}

std::optional<int> node_of(const std::byte* address)
{
    int node = -1;
    const long failed = syscall(SYS_get_mempolicy, &node, nullptr, 0, address, MPOL_F_NODE | MPOL_F_ADDR);
    return failed == 0 ? std::optional(node) : std::nullopt;
}

}  // namespace roof
