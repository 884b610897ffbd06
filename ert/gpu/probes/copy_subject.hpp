// What the benches "link" and "peer" share: copies from one array into another, in any two memories.
#pragma once

#include "ert/gpu/probes/tuning.hpp"

#include <cstddef>
#include <memory>

namespace roof::gpu {

/// The memory of an array that has data(), and its owner.
std::shared_ptr<void> memory_of(const auto& array)
{
    return {array, array->data()};
}

/// Both arrays have so many bytes. Its check() compares what arrived with the numbers sent. Throws Error.
std::unique_ptr<Subject> make_copies(std::size_t bytes, std::shared_ptr<void> to, std::shared_ptr<void> from,
                                     const GpuPoint& at);

/// Axis "working_set", the bytes of each array, and its value rounded down to whole vectors.
Axis array_axis();
std::size_t array_bytes(const Point& point);

}  // namespace roof::gpu
