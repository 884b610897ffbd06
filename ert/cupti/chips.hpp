// CUPTI's data on chips: the metrics of each, the number of passes that a set of them takes, and the conversion of
// counted values. It needs no driver and no GPU, so the tables of metrics can be checked against it on any machine.
#pragma once

#include "ert/cupti/library.hpp"

#include <cupti_profiler_host.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace roof::cupti {

/// An opaque byte image of CUPTI.
using Image = std::vector<std::uint8_t>;

/// All chips that this CUPTI knows, by the driver's names: "GH100".
std::vector<std::string> known_chips(const Cupti& cupti);

/// One chip's metrics.
class Chip {
  public:
    /// `availability`: what the driver says can be counted here; empty: whatever the chip has. Throws Unsupported if
    /// the Range Profiler does not know the chip.
    Chip(std::shared_ptr<const Cupti> cupti, std::string name, const Image& availability = {});
    ~Chip();
    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;

    const std::string& name() const { return name_; }

    /// Whether the chip has the metric, its rollup ("….sum") included.
    bool has(const std::string& metric) const;

    /// How to count these together. May be asked for once in a life. Throws Error naming the metrics if they cannot be.
    Image configuration(const std::vector<std::string>& metrics);

    /// Launches of the same work that the configuration takes.
    int passes(Image& configuration) const;

    /// The metrics' values over a range of `counted`, in SI units without prefix.
    std::vector<double> values(const Image& counted, std::size_t range, const std::vector<std::string>& metrics) const;

    /// The name given to a range: the ordinal of the kernel where ranges were made automatically.
    std::string range_name(const Image& counted, std::size_t range) const;

    /// Of a metric's values as values() gives them: "s", "byte", "inst", …
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
