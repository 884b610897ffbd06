// The mapping is made too large by one huge page, and what lies outside the aligned part is given back at once.
#include "cpu/buffer.hpp"

#include "ert/base/error.hpp"
#include "ert/method/available_memory.hpp"

#include <sys/mman.h>

namespace roof::cpu {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes)
{
    return (bytes + huge_page - 1) / huge_page * huge_page;
}

void refuse_if_too_large(double bytes, const std::string& what_for)
{
    const Bytes available = available_memory();
    if (bytes > available.value) throw OutOfMemory(Bytes{bytes}, available, what_for);
}

}  // namespace

HugeBuffer::HugeBuffer(std::size_t bytes, const std::string& what_for)
{
    refuse_if_too_large(static_cast<double>(bytes), what_for);
    const std::size_t wanted = round_up(bytes);
    void* const mapped =
        mmap(nullptr, wanted + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw OutOfMemory(Bytes{static_cast<double>(bytes)}, available_memory(), what_for);

    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t skip =
        round_up(reinterpret_cast<std::uintptr_t>(begin)) - reinterpret_cast<std::uintptr_t>(begin);
    if (skip > 0) munmap(begin, skip);
    if (skip < huge_page) munmap(begin + skip + wanted, huge_page - skip);
    data_ = std::unique_ptr<std::byte, Unmap>(begin + skip, Unmap{wanted});
    // Advice only: without huge pages the numbers are lower, and the machine document says which mode the system is in.
    madvise(data_.get(), wanted, MADV_HUGEPAGE);
}

void Unmap::operator()(std::byte* data) const
{
    munmap(data, bytes);
}

void Workspace::reserve(int threads, std::size_t bytes)
{
    const std::string what_for = "the working set of " + std::to_string(threads) + " threads";
    if (slices_.size() < static_cast<std::size_t>(threads)) slices_.resize(threads);
    double growth = 0;
    for (int thread = 0; thread < threads; ++thread) {
        const std::size_t held = slices_[thread].size();
        if (held < bytes) growth += static_cast<double>(bytes - held);
    }
    refuse_if_too_large(growth, what_for);
    for (int thread = 0; thread < threads; ++thread) {
        if (slices_[thread].size() >= bytes) continue;
        slices_[thread] = HugeBuffer();
        slices_[thread] = HugeBuffer(bytes, what_for);
    }
}

void Workspace::fill(const PinnedTeam& team, std::size_t bytes) const
{
    team.run([&](int thread) {
        auto* const words = reinterpret_cast<std::uint64_t*>(slice(thread));
        for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) words[i] = content(i);
    });
}

}  // namespace roof::cpu
