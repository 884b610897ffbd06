#include "workloads/onednn/program/arena.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/available_memory.hpp"

#include <sys/mman.h>

namespace roof::onednn {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

Arena::Arena(std::size_t bytes, const std::string& what_for) : size_(bytes)
{
    const Bytes wanted{static_cast<double>(bytes)};
    const Bytes available = available_memory();
    if (wanted > available) throw OutOfMemory(wanted, available, what_for);

    const std::size_t mapped = bytes + huge_page;
    void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw OutOfMemory(wanted, available, what_for);
    mapping_ = std::unique_ptr<void, Unmap>(mapping, Unmap{mapped});

    void* aligned = mapping;
    std::size_t space = mapped;
    begin_ = static_cast<std::byte*>(std::align(huge_page, bytes, aligned, space));
    madvise(begin_, bytes, MADV_HUGEPAGE);  // a hint; kernels without huge pages refuse it, which is harmless
}

void Arena::Unmap::operator()(void* mapping) const
{
    munmap(mapping, bytes);
}

}  // namespace roof::onednn
