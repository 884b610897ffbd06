// What the benches "link" and "peer" share: copies one way or both ways between two stretches of memory each, wherever they lie.
#pragma once

#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roof::gpu {

struct Copies {
    struct OneWay {
        void* to = nullptr;
        const void* from = nullptr;
    };

    std::size_t bytes = 0;        ///< of each
    std::vector<OneWay> ways{};   ///< one, or two at once
    std::function<void()> check;  ///< throws Error where what arrived is not what was sent
};

/// On the device, current meanwhile. `check` keeps the memory alive. Throws Error.
std::unique_ptr<Subject> make_copies(Copies copies, DeviceId id, std::shared_ptr<const Nvml> nvml);

/// Pseudo-random words, other ones for another seed.
void fill_with_numbers(std::byte* to, std::size_t bytes, std::size_t seed);

/// "working_set", of each array, and its value in whole vectors.
Axis array_axis();
std::size_t array_bytes(const Point& point);

/// As many repetitions of a launch at most.
inline constexpr long long most_copies = 1 << 14;

}  // namespace roof::gpu
