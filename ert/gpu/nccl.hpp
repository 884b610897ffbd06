// NCCL, NVIDIA's library of collective operations, opened at run time: it is hundreds of megabytes, and one GPU does
// not need it.
#pragma once

#include "ert/gpu/library.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct ncclComm;

namespace roof::gpu {

/// How many times its message each rank must send, and receive, in an all-reduce in which the ranks do the sums.
/// Message over time (algorithm bandwidth) times this factor is what a rank's links carry each way (bus bandwidth).
/// Derived in docs/gpu.md. 0 for one rank.
constexpr double bus_factor(int ranks)
{
    return 2.0 * (ranks - 1) / ranks;
}

class Nccl {
  public:
    /// The first of `names` that the loader finds; null if the library is missing.
    static std::shared_ptr<const Nccl> open(const std::vector<std::string>& names = {"libnccl.so.2", "libnccl.so"});

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

    /// Puts one sum of `count` floats over all ranks into each rank's stream. `ranks` are in the order of the devices.
    /// Throws Error.
    void enqueue_sum(const std::vector<Rank>& ranks, std::size_t count) const;
    /// Whether a call has failed. NCCL does not recover from that.
    bool has_failed() const { return has_failed_; }

  private:
    void check(int status, const char* what) const;

    std::shared_ptr<const Nccl> library_;
    std::vector<ncclComm*> ranks_;
    mutable bool has_failed_ = false;
};

/// The communicators of a run, one for each list of devices: making one takes NCCL seconds, and much longer with several
/// machines.
class Communicators {
  public:
    explicit Communicators(std::shared_ptr<const Nccl> library) : library_(std::move(library)) {}

    /// Makes it on first use, and anew after a failure. Throws Error.
    std::shared_ptr<const Communicator> on(const std::vector<int>& devices);

  private:
    std::shared_ptr<const Nccl> library_;
    std::map<std::vector<int>, std::shared_ptr<const Communicator>> known_;
};

}  // namespace roof::gpu
