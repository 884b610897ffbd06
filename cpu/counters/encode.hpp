// The number that the kernel knows an event by, from its name: libpfm4's work, where this build has it.
#pragma once

#include <cstdint>
#include <string>

namespace roof::cpu {

struct EventCode {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    std::uint64_t config1 = 0;
};

/// Why this build knows no event; empty if it does.
std::string missing_encoder();

/// "skx::L1D:REPLACEMENT", in user mode. Also of processors other than this one. Throws Unsupported with libpfm4's reason.
EventCode encode(const std::string& event);

}  // namespace roof::cpu
