// CUPTI, NVIDIA's library for profilers, opened at run time, so that roof starts on machines without it.
#pragma once

#include "ert/gpu/library.hpp"
#include "ert/method/bench/machine.hpp"

#include <cupti_result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::cupti {

/// Where CUPTI may be, in the order to try: the one that this process has already loaded, because two in one process
/// disturb each other; the file named by ROOF_CUPTI; what the loader finds; the usual folders of a toolkit.
std::vector<std::string> usual_names();

/// The CUDA driver, opened at run time, so that roof starts without one; nothing if there is none.
std::optional<gpu::Library> open_driver();

class Cupti {
  public:
    /// The first of `names` that is CUPTI 12.0 or newer and answers. One that the driver is too old for does not, and
    /// the next is tried. Throws Unsupported with a remedy, or the reason against the first that was found.
    static std::shared_ptr<const Cupti> open(const std::vector<std::string>& names = usual_names());

    /// As CUPTI_API_VERSION: 130001 for 13.0.1.
    std::uint32_t version() const { return version_; }
    /// The file it was loaded from.
    const std::string& path() const { return path_; }

    /// The function of that name, whose type is `Function`:
    /// `function<decltype(cuptiActivityEnable)>("cuptiActivityEnable")`. Throws Unsupported if this CUPTI has none.
    template <class Function>
    Function* function(const char* name) const
    {
        return library_.function<Function>(name);
    }

    /// Calls the function of that name. Throws as function() and check().
    template <class Function, class... Arguments>
    void call(const char* name, Arguments... arguments) const
    {
        check(function<Function>(name)(arguments...), name);
    }

    /// Throws Error with the name of the call, CUPTI's name of the error and its text; Unsupported, with a remedy, if
    /// the user may not read hardware counters, or another profiler holds them.
    void check(CUptiResult result, const char* name) const;

    /// "CUPTI_ERROR_NOT_INITIALIZED: CUPTI is unable to initialize …".
    std::string describe(CUptiResult result) const;

  private:
    explicit Cupti(gpu::Library library);
    std::string reason_against() const;  ///< empty if it can be used

    gpu::Library library_;
    std::uint32_t version_ = 0;  ///< 0: it did not tell
    CUptiResult told_version_ = CUPTI_SUCCESS;
    std::string path_;
};

// Whether this user may read a GPU's hardware counters, as far as it is known before counting.

/// `parameters`: /proc/driver/nvidia/params, empty without a driver. `is_root`: has all but what a container withholds.
Capability counters_capability(const std::string& parameters, bool is_root);

/// The same for this process.
Capability counters_capability();

}  // namespace roof::cupti
