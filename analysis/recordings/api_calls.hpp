// Calls of the host into the runtime and driver of a device, from api.csv, summed by name.
#pragma once

#include "ert/base/units.hpp"
#include "ert/recording/record_files.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Purpose of a call. In `wait` the host waits until a device is done; that is not overhead of the call.
enum class CallPurpose { launch, wait, copy, allocate, event, other };

std::string_view name(CallPurpose purpose);

/// Classifies by the names of the CUDA runtime and driver, NCCL and their libraries. A synchronous copy is a copy.
CallPurpose purpose_of(std::string_view call);

struct CallTotal {
    std::string row;   ///< Measurement::id()
    std::string name;  ///< without the version that some recorders add: cudaLaunchKernel_v7000
    CallPurpose purpose = CallPurpose::other;
    std::size_t calls = 0;
    Seconds seconds;
    Seconds longest;
};

/// The calls of a results folder, longest first within each row; empty without api.csv. A driver call inside a runtime
/// call counts in both.
std::vector<CallTotal> add_up_calls(const RecordedFolder& folder);

}  // namespace roof::analysis
