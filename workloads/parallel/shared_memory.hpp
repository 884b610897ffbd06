// The transport between ranks on one machine: memory that all of them map. It has no name, so nothing is left behind
// when a process dies. In a reduction each rank sums its part of the range over all blocks and writes the result to
// all.
#pragma once

#include "ert/base/wait_limit.hpp"
#include "workloads/parallel/communicator.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace roof::parallel {

/// The memory, and its file descriptor, by which another process gets it.
class SharedMemory {
  public:
    static constexpr int most_ranks = 256;

    /// New, for that many ranks. Throws Error.
    static std::shared_ptr<SharedMemory> create(int ranks);
    /// The memory behind this descriptor, which another process may have created and left open. Throws Error, also for
    /// a descriptor of anything else.
    static std::shared_ptr<SharedMemory> open(int descriptor);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    int descriptor() const { return descriptor_; }
    int ranks() const;
    /// The process that created it.
    int owner() const;
    /// All ranks, waiting now or later, throw an Error with the first such message.
    void fail(const std::string& message) const;

  private:
    friend class SharedMemoryCommunicator;
    using Counts = std::array<std::atomic<std::uint32_t>, most_ranks>;
    struct Header;

    SharedMemory(int descriptor, void* mapping) : descriptor_(descriptor), header_(static_cast<Header*>(mapping)) {}

    int descriptor_;
    Header* header_;
};

/// How a rank waits for the others.
struct WaitOptions {
    Seconds limit = wait_limit();           ///< then the wait ends with an Error
    std::function<void()> while_waiting{};  ///< called some times a second; may be empty
};

/// For a rank that is a process, or a thread that shares the memory with others.
std::shared_ptr<Communicator> shared_memory_communicator(const std::shared_ptr<SharedMemory>& memory, int rank,
                                                         const WaitOptions& options = {});

}  // namespace roof::parallel
