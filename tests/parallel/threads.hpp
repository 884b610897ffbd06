// Ranks as threads of this process that share memory: what a rank does, without starting programs.
#pragma once

#include "workloads/parallel/shared_memory.hpp"

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace roof::parallel {

/// Runs `work` once per rank, all at the same time; returns what each threw, empty if nothing.
inline std::vector<std::string> on_ranks(int ranks, const std::function<void(const Communicator&)>& work,
                                         const Patience& patience = {})
{
    const auto memory = SharedMemory::create(ranks);
    std::vector<std::string> complaints(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                work(shared_memory_communicator(memory, rank, patience));
            } catch (const std::exception& error) {
                complaints[static_cast<std::size_t>(rank)] = error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    return complaints;
}

}  // namespace roof::parallel
