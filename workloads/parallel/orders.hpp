// What rank 0 tells the others to do: a subject is made, launched some times and let go; or the end.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "workloads/parallel/communicator.hpp"

#include <exception>
#include <string>
#include <vector>

namespace roof::parallel {

/// A point of a bench. `devices`: one for all ranks, or one for each.
struct Assignment {
    std::string bench;
    std::vector<std::string> devices;
    Point point;

    const std::string& device(int rank) const
    {
        return devices.size() == 1 ? devices.front() : devices.at(static_cast<std::size_t>(rank));
    }
};

/// For a device alone, or with the others that it is to work with.
Assignment assignment_of(const std::string& bench, const Device& device, const Point& point);

enum class Word { make, launch, release, leave };

struct Order {
    Word word = Word::leave;
    Assignment assignment{};  ///< of `make`
};

/// Rank 0 says it, all others hear it: both collective. Throws Error if the point's text is too long (16 KiB).
void say(const Communicator& communicator, const Order& order);
Order hear(const Communicator& communicator);

/// Whether all ranks could do their part: each says what went wrong with its own, if anything did. Collective. Throws where any
/// could not, on all ranks: OutOfMemory if that was it, Error with the message of the first otherwise.
void agree(const Communicator& communicator, const std::exception_ptr& failure);

}  // namespace roof::parallel
