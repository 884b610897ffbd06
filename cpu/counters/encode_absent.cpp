#include "cpu/counters/encode.hpp"
#include "ert/base/error.hpp"

namespace roof::cpu {

std::string encoder_obstacle()
{
    return "roof was built without libpfm4 (Debian's package libpfm4-dev)";
}

EventCode encode(const std::string& event)
{
    throw Unsupported(event + ": " + encoder_obstacle());
}

}  // namespace roof::cpu
