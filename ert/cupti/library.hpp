// CUPTI, NVIDIA's library for profilers, opened while the program runs: nothing is linked, and a machine without it is told so.
#pragma once

#include "ert/gpu/library.hpp"

#include <cupti_result.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roof::cupti {

/// Where CUPTI may be, in the order to try: the one this process has loaded already, for two of them in one process disturb each
/// other; what ROOF_CUPTI names; what the loader finds; the usual folders of a toolkit.
std::vector<std::string> usual_names();

class Cupti {
  public:
    /// The first of `names` that is CUPTI 12.0 or newer. Throws Unsupported with what would help.
    static std::shared_ptr<const Cupti> open(const std::vector<std::string>& names = usual_names());

    /// As CUPTI_API_VERSION has it: 130001 for 13.0.1.
    std::uint32_t version() const { return version_; }
    /// The file it was loaded from.
    const std::string& path() const { return path_; }

    /// `Function` is the type of the function of that name: `function<decltype(cuptiActivityEnable)>("cuptiActivityEnable")`.
    /// Throws Unsupported where this CUPTI has none of that name.
    template <class Function>
    Function* function(const char* name) const
    {
        return library_.function<Function>(name);
    }

    /// Throws Error with the call, CUPTI's name of the error and its text; Unsupported, with the remedy, where the user may not
    /// read hardware counters.
    void check(CUptiResult result, const char* call) const;

    /// "CUPTI_ERROR_NOT_INITIALIZED: CUPTI is unable to initialize …".
    std::string describe(CUptiResult result) const;

  private:
    explicit Cupti(gpu::Library library);

    gpu::Library library_;
    std::uint32_t version_ = 0;
    std::string path_;
};

/// What lets a user without rights read hardware counters.
inline constexpr const char* counters_remedy =
    "run as root or with CAP_SYS_ADMIN (a driver from 565 on: CAP_PERFMON), or have the administrator set "
    "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d and load the driver anew";

}  // namespace roof::cupti
