// Calls of the host into the device's runtime and driver, added up by name, from api.csv.
#pragma once

#include "ert/base/units.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// What a call is for. In `wait` the host stands still until a device is done: that is no overhead of the call itself.
enum class CallPurpose { launch, wait, copy, allocate, event, other };

std::string_view name(CallPurpose purpose);

/// By the names that the CUDA runtime and driver, NCCL and their libraries give; a copy that is not asynchronous is a copy,
/// though it waits as well.
CallPurpose purpose_of(std::string_view call);

struct CallTotal {
    std::string row;   ///< Measurement::id()
    std::string name;  ///< without the version that some recorders add: cudaLaunchKernel_v7000
    CallPurpose purpose = CallPurpose::other;
    std::size_t calls = 0;
    Seconds seconds;
    Seconds longest;
};

/// Of a results folder: of each row the most seconds first; empty without api.csv. A driver's call that a runtime's call made
/// counts in both, as the recorder wrote both.
std::vector<CallTotal> add_up_calls(const std::filesystem::path& folder);

}  // namespace roof::analysis
