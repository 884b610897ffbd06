// The numeric codes of CPU events by name, from libpfm4, where this build has it.
#pragma once

#include <cstdint>
#include <string>

namespace roof::cpu {

struct EventCode {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    std::uint64_t config1 = 0;
};

/// The reason why this build cannot encode events; empty if it can.
std::string missing_encoder();

/// Encodes an event such as "skx::L1D:REPLACEMENT", counted in user mode. Events of other processors are encoded too.
/// Throws Unsupported with libpfm4's reason.
EventCode encode(const std::string& event);

}  // namespace roof::cpu
