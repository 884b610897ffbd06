// Arrays on the emulated device for tests.
#pragma once

#include "tests/emulated_gpu/runtime/machine.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace roof::emulated {

template <class Element>
class Array {
  public:
    explicit Array(const std::vector<Element>& values) : count_(values.size())
    {
        REQUIRE(cudaMalloc(&memory_, count_ * sizeof(Element)) == cudaSuccess);
        REQUIRE(cudaMemcpy(memory_, values.data(), count_ * sizeof(Element), cudaMemcpyHostToDevice) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    explicit Array(std::size_t count) : Array(std::vector<Element>(count)) {}
    ~Array() { cudaFree(memory_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    Element* data() const { return static_cast<Element*>(memory_); }
    std::vector<Element> values() const
    {
        std::vector<Element> all(count_);
        REQUIRE(cudaMemcpy(all.data(), memory_, count_ * sizeof(Element), cudaMemcpyDeviceToHost) == cudaSuccess);
        return all;
    }

  private:
    void* memory_ = nullptr;
    std::size_t count_;
};

/// The text of the fault that the work in the default stream ends with, or nothing. The device then works again.
inline std::string fault_of_pending_work()
{
    if (cudaDeviceSynchronize() == cudaSuccess) return {};
    const std::string text = machine().last_fault();
    machine().forget_faults();
    cudaGetLastError();
    return text;
}

/// Calls check() with each schedule. Nothing of it may fail on the device.
template <class Check>
void in_all_schedules(const Check& check)
{
    constexpr unsigned schedules = 2;
    for (unsigned seed = 1; seed <= schedules; ++seed) {
        machine().chance().seed(seed);
        check();
        REQUIRE(fault_of_pending_work() == "");
    }
}

/// While it lives, launches have no more blocks along each dimension, so that threads of loops over a grid take several
/// turns. Only for kernels whose result is the same for any grid.
class FewBlocks {
  public:
    explicit FewBlocks(const Dim& most) { machine().most_blocks = most; }
    ~FewBlocks() { machine().most_blocks = {~0U, ~0U, ~0U}; }
    FewBlocks(const FewBlocks&) = delete;
    FewBlocks& operator=(const FewBlocks&) = delete;
};

/// While it lives, races for global memory are sought, or not, whatever the environment says.
class RaceSearch {
  public:
    explicit RaceSearch(bool is_on) : former_(machine().engine().finds_races)
    {
        machine().engine().finds_races = is_on;
    }
    ~RaceSearch() { machine().engine().finds_races = former_; }
    RaceSearch(const RaceSearch&) = delete;
    RaceSearch& operator=(const RaceSearch&) = delete;

  private:
    bool former_;
};

/// A card of another generation while it lives.
class Generation {
  public:
    explicit Generation(int major) : card_(machine().device(0).card), former_(card_.major) { card_.major = major; }
    ~Generation() { card_.major = former_; }
    Generation(const Generation&) = delete;
    Generation& operator=(const Generation&) = delete;

  private:
    Card& card_;
    int former_;
};

}  // namespace roof::emulated
