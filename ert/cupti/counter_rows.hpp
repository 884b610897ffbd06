// Counted values as rows of counters.csv.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/subscriber.hpp"
#include "ert/recording/records.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace roof::cupti {

/// One row for each metric that has a value; CUPTI gives NaN where a pass saw another range than the others. Returns how many have
/// none. `launch`: the number of the kernel, empty for phases and steps.
inline std::size_t append_counters(std::vector<CounterRecord>& rows, const std::string& device, CounterScope scope,
                                   Number launch, const LaunchSeen& seen, const Chip& chip,
                                   const std::vector<std::string>& metrics, const std::vector<double>& values)
{
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (std::isfinite(values[i]))
            rows.push_back({device, scope, seen.label.layer, seen.label.phase, seen.kernel, launch, metrics[i],
                            values[i], chip.unit(metrics[i])});
        else
            ++unknown;
    }
    return unknown;
}

/// A remark about metrics without a value.
inline std::string without_value(std::size_t metrics)
{
    return "CUPTI gave no value for " + std::to_string(metrics) + " counters, which are left out";
}

}  // namespace roof::cupti
