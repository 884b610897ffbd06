// The effect of an NVTX call on the ranges of its thread, from CUPTI's data on the call.
#pragma once

#include <cupti.h>

#include <optional>
#include <span>
#include <string>

namespace roof::cupti {

struct RangeCall {
    bool opens = false;
    const void* domain = nullptr;
    std::string name;  ///< empty for wide characters and registered names
};

/// CUPTI's numbers of the calls that push and pop ranges.
std::span<const CUpti_CallbackId> range_calls();

/// Nothing for any other call.
std::optional<RangeCall> range_call(CUpti_CallbackId call, const CUpti_NvtxData& data);

}  // namespace roof::cupti
