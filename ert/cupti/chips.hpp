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

    /// Whether the chip has the metric, its rollup ("….sum") included.
    bool has(const std::string& metric) const;

    /// The configuration to count these metrics together. Call it at most once. Throws Error naming the metrics if it
    /// cannot be made.
    Image configuration(const std::vector<std::string>& metrics);

    /// How often the same work must be launched for the configuration.
    int passes(Image& configuration) const;

    /// The metrics' values over a range of `counted`, in SI units without prefix.
    std::vector<double> values(const Image& counted, std::size_t range, const std::vector<std::string>& metrics) const;

    /// The name of a range; the number of the kernel if ranges were made automatically.
    std::string range_name(const Image& counted, std::size_t range) const;

    /// The unit of a metric in values(): "s", "byte", "inst", …
    std::string unit(const std::string& metric) const;

  private:
    std::string dimension(const std::string& metric) const;

    std::shared_ptr<const Cupti> cupti_;
    std::string name_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
};

/// Launches that counting these metrics takes on that chip.
int passes(const std::shared_ptr<const Cupti>& cupti, const std::string& chip, const std::vector<std::string>& metrics);

}  // namespace roof::cupti
