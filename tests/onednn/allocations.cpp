#include "tests/onednn/allocations.hpp"

#include <atomic>
#include <cerrno>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

std::atomic<long> count{0};

void note(std::size_t bytes)
{
    if (bytes >= roof::onednn::large_allocation) ++count;
}

}  // namespace

extern "C" void* malloc(std::size_t bytes)
{
    note(bytes);
    return __libc_malloc(bytes);
}

extern "C" void* calloc(std::size_t items, std::size_t bytes)
{
    note(items * bytes);
    return __libc_calloc(items, bytes);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    note(bytes);
    return __libc_memalign(alignment, bytes);
}

extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes)
{
    note(bytes);
    *memory = __libc_memalign(alignment, bytes);
    return *memory == nullptr ? ENOMEM : 0;
}

namespace roof::onednn {

long large_allocations()
{
    return count;
}

}  // namespace roof::onednn
