// The emulator finds planted errors, and nothing in the same kernels without them.
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/planted/planted.hpp"

#include <algorithm>
#include <numeric>

using namespace roof::emulated;
using namespace roof::planted;
using Catch::Matchers::Contains;

namespace {

/// Schedules that are tried where an error shows only in some of them.
constexpr unsigned schedules = 20;

std::vector<float> counted(std::size_t count)
{
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
}

}  // namespace

TEST_CASE("a barrier missing between a write and a read of shared memory is found in every schedule")
{
    const Array<float> in(counted(2 * threads));
    const Array<float> out(2 * threads);
    for (unsigned seed = 0; seed < schedules; ++seed) {
        machine().chance().seed(seed);
        enqueue_block_sums(in.data(), out.data(), 2, true, nullptr);
        CHECK_THAT(fault_of_pending_work(), Contains("no barrier orders"));
        enqueue_block_sums(in.data(), out.data(), 2, false, nullptr);
        CHECK(fault_of_pending_work().empty());
        CHECK(out.values()[threads] == 24640);  // 129 + … + 256
    }
}

TEST_CASE("a missing fence before the counter of the last block gives wrong sums in some schedule")
{
    constexpr int blocks = 20;
    const Array<float> partial(blocks);
    const Array<float> out(1);
    const auto sum_with = [&](unsigned seed, bool error) {
        machine().chance().seed(seed);
        const Array<unsigned> counter(1);
        CHECK(cudaMemset(partial.data(), 0, blocks * sizeof(float)) == cudaSuccess);
        enqueue_last_block_sum(partial.data(), counter.data(), out.data(), blocks, error, nullptr);
        CHECK(fault_of_pending_work().empty());
        return out.values()[0];
    };
    int wrong = 0;
    for (unsigned seed = 0; seed < schedules; ++seed) {
        CHECK(sum_with(seed, false) == 210);
        wrong += sum_with(seed, true) != 210 ? 1 : 0;
    }
    CHECK(wrong > 0);
}

TEST_CASE("a missing fence before the counter of the last block is found in every schedule where races are sought")
{
    constexpr int blocks = 20;
    const Array<float> partial(blocks);
    const Array<float> out(1);
    const RaceSearch on(true);
    for (unsigned seed = 0; seed < schedules; ++seed) {
        machine().chance().seed(seed);
        for (const bool error : {false, true}) {
            const Array<unsigned> counter(1);
            enqueue_last_block_sum(partial.data(), counter.data(), out.data(), blocks, error, nullptr);
            const std::string fault = fault_of_pending_work();
            if (error)
                CHECK_THAT(fault, Contains("nothing orders the accesses to global memory"));
            else
                CHECK(fault.empty());
        }
    }
}

TEST_CASE("threads of a block that read what their neighbours write without a barrier race for global memory")
{
    const Array<float> values(threads + 1);
    const RaceSearch on(true);
    for (unsigned seed = 0; seed < schedules; ++seed) {
        machine().chance().seed(seed);
        enqueue_copy(values.data(), values.data() + 1, 0, 1, nullptr);
        CHECK_THAT(fault_of_pending_work(), Contains("nothing orders the accesses to global memory"));
        enqueue_copy(values.data(), values.data(), 0, 1, nullptr);
        CHECK(fault_of_pending_work().empty());
    }
}

TEST_CASE("an access one element outside an allocation is found")
{
    const Array<float> in(counted(threads));
    const Array<float> out(threads);
    enqueue_copy(in.data(), out.data(), 0, 1, nullptr);
    CHECK(fault_of_pending_work().empty());
    CHECK(out.values() == counted(threads));
    enqueue_copy(in.data(), out.data(), 1, 1, nullptr);
    CHECK_THAT(fault_of_pending_work(), Contains("outside"));
    enqueue_copy(in.data(), out.data(), -1, 1, nullptr);
    CHECK_THAT(fault_of_pending_work(), Contains("outside"));
}

TEST_CASE("a vector that is not aligned to its size is found")
{
    const Array<float> in(counted(threads));
    const Array<float> out(1);
    enqueue_wide_read(reinterpret_cast<const char*>(in.data()), out.data(), 16, nullptr);
    CHECK(fault_of_pending_work().empty());
    CHECK(out.values()[0] == 5 + 6 + 7 + 8);
    enqueue_wide_read(reinterpret_cast<const char*>(in.data()), out.data(), 8, nullptr);
    CHECK_THAT(fault_of_pending_work(), Contains("misaligned"));
}

TEST_CASE("a barrier that a part of the block never reaches is a deadlock")
{
    const Array<float> out(threads);
    enqueue_half_barrier(out.data(), nullptr);
    CHECK_THAT(fault_of_pending_work(), Contains("wait for ever"));
}

TEST_CASE("an error of a kernel sticks to the device until the process ends")
{
    const Array<float> out(1);
    enqueue_trap(nullptr);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4) == cudaErrorLaunchFailure);
    CHECK_THAT(fault_of_pending_work(), Contains("a trap"));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a bulk copy without its waits or fences is found")
{
    constexpr int chunks = 8;
    std::vector<char> bytes(chunks * 1024);
    std::iota(bytes.begin(), bytes.end(), '\0');
    const Array<char> in(bytes);
    const Array<char> out(bytes.size());
    const auto fault_of = [&](Missing missing, unsigned seed) {
        machine().chance().seed(seed);
        enqueue_bulk_copy(in.data(), out.data(), chunks, missing, nullptr);
        return fault_of_pending_work();
    };
    for (unsigned seed = 0; seed < schedules; ++seed) {
        CHECK(fault_of(Missing::nothing, seed).empty());
        CHECK(out.values() == bytes);
        CHECK_THAT(fault_of(Missing::proxy_fence, seed), Contains("between the proxies"));
        CHECK_THAT(fault_of(Missing::wait, seed), Contains("a copy is still to"));
    }
    const auto is_found = [&](Missing missing) {
        for (unsigned seed = 0; seed < schedules; ++seed) {
            if (!fault_of(missing, seed).empty()) return true;
        }
        return false;
    };
    CHECK(is_found(Missing::read_wait));
    CHECK(is_found(Missing::bulk_group_end));
}

TEST_CASE("wgmma without its fence, its wait, the barrier or the fence between the proxies is found")
{
    // In core matrices, A is the identity's first 16 columns and B counts.
    std::vector<u16> a(64 * 16);
    std::vector<u16> b(8 * 16);
    const auto place = [](int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; };
    for (int k = 0; k < 16; ++k) a[static_cast<std::size_t>(place(k, k))] = narrow<f16>(1).bits;
    for (int n = 0; n < 8; ++n) {
        for (int k = 0; k < 16; ++k) b[static_cast<std::size_t>(place(n, k))] = narrow<f16>(n + 10 * k).bits;
    }
    const Array<u16> left(a);
    const Array<u16> right(b);
    const Array<float> out(64 * 8);
    const auto fault_of = [&](WgmmaMissing missing) {
        enqueue_wgmma(left.data(), right.data(), out.data(), missing, nullptr);
        return fault_of_pending_work();
    };
    CHECK(fault_of(WgmmaMissing::nothing).empty());
    const auto values = out.values();
    for (std::size_t row = 0; row < 64; ++row) {
        for (std::size_t n = 0; n < 8; ++n)
            CHECK(values[row * 8 + n] == (row < 16 ? static_cast<float>(n + 10 * row) : 0));
    }
    CHECK_THAT(fault_of(WgmmaMissing::fence), Contains("wgmma.fence"));
    CHECK_THAT(fault_of(WgmmaMissing::proxy_fence), Contains("between the proxies"));
    CHECK_THAT(fault_of(WgmmaMissing::barrier), Contains("no barrier orders the write"));
    // Without the wait the registers hold junk.
    fault_of(WgmmaMissing::wait);
    CHECK(out.values() != values);
}

TEST_CASE("a cluster whose size does not divide the blocks is refused")
{
    const Array<float> in(counted(4 * threads));
    const Array<float> out(4 * threads);
    enqueue_copy_by_pairs(in.data(), out.data(), 3, nullptr);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    enqueue_copy_by_pairs(in.data(), out.data(), 4, nullptr);
    CHECK(fault_of_pending_work().empty());
    CHECK(out.values() == counted(4 * threads));
}
