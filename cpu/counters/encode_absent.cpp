#include "cpu/counters/encode.hpp"
#include "ert/base/error.hpp"

namespace roof::cpu {

std::string missing_encoder()
{
    return "roof was built without libpfm4 (Debian's package libpfm4-dev)";
}

EventCode encode(const std::string& event)
{
    throw Unsupported(event + ": " + missing_encoder());
}

}  // namespace roof::cpu
