// NCCL, NVIDIA's library of collective operations, opened while the program runs: it is hundreds of megabytes, and one
// GPU alone does without it.
#pragma once

#include "ert/gpu/library.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct ncclComm;

namespace roof::gpu {

/// Of an all-reduce among `ranks`: how many times its message each rank must send, and receive, where the ranks do the
/// sums. Message over time (algorithm bandwidth) times this is what a rank's links carry each way (bus bandwidth), the
/// number to hold against them. Derived in docs/gpu.md. 0 for one rank, which sends nothing.
constexpr double bus_factor(int ranks)
{
    return 2.0 * (ranks - 1) / ranks;
}

class Nccl {
  public:
    /// Null if the library is missing.
    static std::shared_ptr<const Nccl> open();

    /// "2.28.9"; empty if unknown.
    std::string version() const;
    const Library& functions() const { return library_; }

  private:
    friend class Communicator;
    explicit Nccl(Library library) : library_(library) {}

    Library library_;
};

/// One rank on each of several devices, all in this process.
class Communicator {
  public:
    /// `devices`: the runtime's numbers, each once. Throws Error.
    Communicator(std::shared_ptr<const Nccl> library, const std::vector<int>& devices);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    struct Rank {
        const float* send = nullptr;
        float* receive = nullptr;
        cudaStream_t stream = nullptr;
    };

    /// Puts one sum over all ranks, of `count` floats, into each rank's stream. `ranks`: as many as devices, in their
    /// order. Throws Error.
    void enqueue_sum(const std::vector<Rank>& ranks, std::size_t count) const;

  private:
    void check(int status, const char* what) const;

    std::shared_ptr<const Nccl> library_;
    std::vector<ncclComm*> ranks_;
};

}  // namespace roof::gpu
