// What else used the machine beside a launch. A step's samples are not left out for it: they show what a busy machine
// costs.
#pragma once

#include <functional>
#include <memory>
#include <optional>

namespace roof {

/// During one launch, or the mean over launches. Empty: not known.
struct HostUse {
    std::optional<double> others{};  ///< processors that other processes used, on average
    std::optional<double> stolen{};  ///< processors that the host of this virtual machine took, on average
    std::optional<double>
        waited{};  ///< share of the time that this process's thread that waited longest had no processor
    std::optional<double> shared{};  ///< share of the readings in which the core was shared; not with several threads
};

/// Called directly before and after a launch, on the launching thread.
class HostMonitor {
  public:
    virtual ~HostMonitor() = default;
    virtual void begin() = 0;
    virtual HostUse end() = 0;
};
using MakeHostMonitor = std::function<std::unique_ptr<HostMonitor>()>;

}  // namespace roof
