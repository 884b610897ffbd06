// Communication between the ranks of a data-parallel step, by shared memory or MPI. A rank is a process that trains a
// copy of the network on its own images; rank 0 measures, and all others follow it.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/units.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace roof::parallel {

/// A value as bytes, which broadcast() takes.
template <class Value>
std::span<std::byte> bytes_in(Value& value)
{
    return std::as_writable_bytes(std::span(&value, 1));
}

/// Which ranks receive the mean.
enum class Reach { all, first };

/// All calls but fail() and watch() are collective: all ranks make them, with the same sizes, in the same
/// order. Each throws Error when another rank failed, ended, or did not arrive within the transport's time limit.
class Communicator {
  public:
    Communicator(int own_rank, int ranks, std::string name) : rank(own_rank), size(ranks), transport(std::move(name)) {}
    virtual ~Communicator() = default;
    Communicator(Communicator&) = delete;
    Communicator& operator=(Communicator&) = delete;

    const int rank;
    const int size;
    const std::string transport;  ///< "shared memory", "Open MPI 4.1.4"

    /// Memory for `count` numbers, zero at first, whose ranges mean() takes. Called once; valid as long as this object.
    virtual std::span<float> block(std::size_t count) = 0;
    /// Replaces a range of the block by its mean over all ranks. With Reach::first rank 0 alone has the mean, and the
    /// other ranks' values are undefined. May run in another thread beside the calls below.
    virtual void mean(std::span<float> range, Reach reach) = 0;
    /// Replaces the values by their sum over all ranks. The order of summation, and so the result, is the same on all
    /// ranks.
    virtual void sum(std::span<double> values) = 0;
    /// Replaces the bytes by those of rank `root`.
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    /// Sends `out` to rank `to` and receives `in` from rank `from`, at once; a negative rank: nothing. Less than 2 GiB
    /// each. Not collective. Throws Unsupported where the transport sends no
    /// messages.
    virtual void exchange(std::span<const std::byte> /*out*/, int /*to*/, std::span<std::byte> /*in*/, int /*from*/)
    {
        throw Unsupported("ranks by " + transport + " send each other no messages");
    }
    /// A communicator of the ranks that pass true, numbered in their order; null on the others. Throws Unsupported
    /// where the transport divides no ranks.
    virtual std::unique_ptr<Communicator> part(bool /*takes_part*/)
    {
        throw Unsupported("ranks by " + transport + " are not divided");
    }
    /// This rank gives up: the others throw an Error with its message.
    virtual void fail(const std::string& message) = 0;
    /// For a rank that waits by other means, to be called again and again with the time so far and what it waits for:
    /// throws Error where another rank failed or ended, and after wait_limit(), naming the ranks that do not answer.
    virtual void watch(Seconds waited, const std::string& what) = 0;
};

}  // namespace roof::parallel
