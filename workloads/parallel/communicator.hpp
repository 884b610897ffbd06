// What the ranks of a data-parallel step ask of each other, whatever carries it: shared memory, MPI. A rank is a process that
// trains a copy of the network on its own images; rank 0 measures, and all others follow it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace roof::parallel {

/// Who has the mean in the end.
enum class Reach { all, first };

/// Every call but `fail` and `watch` is collective: all ranks make it, with the same sizes, in the same order. Each throws Error when another
/// rank failed, ended, or did not come within the transport's patience.
struct Communicator {
    int rank = 0;
    int size = 1;
    std::string transport;  ///< "shared memory", "Open MPI 4.1.4"

    /// Memory for `count` numbers, zero at first, which mean() takes stretches of. Called once; lives as long as a copy of this
    /// communicator.
    std::function<std::span<float>(std::size_t count)> block;
    /// The mean over all ranks of a stretch of the block takes its place; with Reach::first on rank 0 alone, and is undefined on
    /// the others. May run in another thread while this one makes the calls below.
    std::function<void(std::span<float> stretch, Reach reach)> mean;
    /// The sum over all ranks takes the values' place. The order of summation is the same for all: so is the result.
    std::function<void(std::span<double> values)> sum;
    /// The bytes of rank `root` take the place of everybody's.
    std::function<void(std::span<std::byte> bytes, int root)> broadcast;
    /// This rank gives up: the others throw an Error with its message.
    std::function<void(const std::string& message)> fail;
    /// For a rank that waits for others by other means than these calls: throws as they do, where another rank failed or ended.
    std::function<void()> watch;
};

}  // namespace roof::parallel
