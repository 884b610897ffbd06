#include "cpu/counters/encode.hpp"
#include "ert/base/error.hpp"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>

namespace roof::cpu {
namespace {

/// Initialises the library once. It is never terminated.
int initialise()
{
    // Lets libpfm4 encode events of other processors too. Programs that we start must not inherit it.
    constexpr const char* variable = "LIBPFM_ENCODE_INACTIVE";
    const bool is_ours = std::getenv(variable) == nullptr;
    ::setenv(variable, "1", 0);
    const int status = pfm_initialize();
    if (is_ours) ::unsetenv(variable);
    return status;
}

int status()
{
    static const int done = initialise();
    return done;
}

}  // namespace

std::string missing_encoder()
{
    return status() == PFM_SUCCESS ? "" : std::string("libpfm4: ") + pfm_strerror(status());
}

EventCode encode(const std::string& event)
{
    if (const std::string reason = missing_encoder(); !reason.empty()) throw Unsupported(reason);
    perf_event_attr attributes{};
    pfm_perf_encode_arg_t argument{};
    argument.attr = &attributes;
    argument.size = sizeof argument;
    const int found = pfm_get_os_event_encoding(event.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
    if (found != PFM_SUCCESS) throw Unsupported(event + ": " + pfm_strerror(found));
    return {attributes.type, attributes.config, attributes.config1};
}

}  // namespace roof::cpu
