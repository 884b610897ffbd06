// What the benches "link" and "peer" share: copies between pairs of arrays, one way or both ways at once, in any two
// memories, and a kernel's own accesses to memory that is not its device's.
#pragma once

#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace roof::gpu {

struct Copies {
    struct OneWay {
        void* to = nullptr;
        void* from = nullptr;
    };

    std::size_t bytes = 0;                              ///< of each array
    std::vector<OneWay> ways{};                         ///< one, or two at once
    std::vector<std::shared_ptr<const void>> memory{};  ///< owns the arrays

    /// Another way, between arrays that have data().
    void add(const auto& to, const auto& from)
    {
        ways.push_back({to->data(), from->data()});
        memory.insert(memory.end(), {to, from});
    }
};

/// Sends other numbers each way; its check() compares what arrived with them. Throws Error.
std::unique_ptr<Subject> make_copies(Copies copies, const GpuPoint& at);

/// Memory that is not the device's own, for a kernel that accesses it itself.
struct Elsewhere {
    void* data = nullptr;
    std::size_t bytes = 0;
    Bytes on_devices{};
    std::function<void()> fill;            ///< with the words that expected_word() says of a load
    std::function<void()> check_stored;    ///< throws Error unless each word is stream_value
    std::shared_ptr<const void> memory{};  ///< owns it
};

/// One kernel of resident blocks that loads from it, or stores to it. Throws Error.
std::unique_ptr<Subject> make_accesses(StreamOperation operation, Elsewhere there, const GpuPoint& at);

/// Axis "working_set", the bytes of each array, and its value rounded down to whole vectors.
Axis array_axis();
std::size_t array_bytes(const Point& point);

inline constexpr long long max_copies = 1 << 14;  ///< in one launch

}  // namespace roof::gpu
