// Ranks as threads of this process with shared memory, without starting programs.
#pragma once

#include "workloads/parallel/shared_memory.hpp"

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace roof::parallel {

/// Returns the communicator of the running rank for code that keeps a shared pointer to it.
inline std::shared_ptr<Communicator> shared(Communicator& communicator)
{
    return {std::shared_ptr<void>(), &communicator};
}

/// Runs `work` once per rank at the same time. Returns the message that each threw, empty if none.
inline std::vector<std::string> on_ranks(int ranks, const std::function<void(Communicator&)>& work,
                                         const WaitOptions& options = {})
{
    const auto memory = SharedMemory::create(ranks);
    std::vector<std::string> messages(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                work(*shared_memory_communicator(memory, rank, options));
            } catch (const std::exception& error) {
                messages[static_cast<std::size_t>(rank)] = error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    return messages;
}

}  // namespace roof::parallel
