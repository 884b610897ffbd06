#include "ert/cupti/permission.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/cupti/library.hpp"

#include <unistd.h>

namespace roof::cupti {
namespace {

constexpr const char* restricted = "RmProfilingAdminOnly: 1";

std::string driver_parameters()
{
    try {
        return read_file("/proc/driver/nvidia/params");
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

Capability counters_capability(const std::string& parameters, bool is_root)
{
    Capability capability{"GPU hardware counters", false, {}, {}};
    if (parameters.empty()) {
        capability.reason = "no NVIDIA driver is loaded";
    } else if (parameters.find(restricted) == std::string::npos) {
        capability.present = true;
        capability.reason = "the driver lets every user read them";
    } else if (is_root) {
        capability.present = true;
        capability.reason = "the driver lets administrators read them, and this is one";
    } else {
        capability.reason = "the driver lets only administrators read them; CAP_PERFMON is not checked here";
        capability.remedy = counters_remedy;
    }
    return capability;
}

Capability counters_capability()
{
    return counters_capability(driver_parameters(), ::geteuid() == 0);
}

}  // namespace roof::cupti
