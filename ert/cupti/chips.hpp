// CUPTI's data on chips: the metrics of each, the number of passes that a set of them takes, and the conversion of
// counted values. It needs no driver and no GPU, so the tables of metrics can be checked against it on any machine.
#pragma once

#include "ert/cupti/library.hpp"

#include <cupti_profiler_host.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roof::cupti {

/// An opaque byte image of CUPTI.
using Image = std::vector<std::uint8_t>;

/// One chip's metrics.
class Chip {
  public:
    /// `availability`: what can be counted here, by the driver; empty: all that the chip has. Throws Unsupported if the
    /// Range Profiler does not know the chip.
    Chip(std::shared_ptr<const Cupti> cupti, std::string name, const Image& availability = {});
    ~Chip();
    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;

    const std::string& name() const { return name_; }

    /// The configuration to count these metrics together, at most once. Throws Error naming them if it cannot be made.
    Image configuration(const std::vector<std::string>& metrics);

    /// The metrics' values over a range of `counted`, in SI units without prefix.
    std::vector<double> values(const Image& counted, std::size_t range, const std::vector<std::string>& metrics) const;

    /// The name of a range; the number of the kernel if ranges were made automatically.
    std::string range_name(const Image& counted, std::size_t range) const;

    /// The unit of a metric in values(): "s", "byte", "inst", … Throws Error for one that the chip has not.
    std::string unit(const std::string& metric) const;

  private:
    std::string dimension(const std::string& metric) const;

    std::shared_ptr<const Cupti> cupti_;
    std::string name_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace roof::cupti
