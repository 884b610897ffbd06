// Counted values as rows of counters.csv.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/subscriber.hpp"
#include "ert/recording/records.hpp"

#include <string>
#include <vector>

namespace roof::cupti {

/// One row for each metric. `launch`: the number of the kernel, empty for phases and steps.
inline void append_counters(std::vector<CounterRecord>& rows, const std::string& device, CounterScope scope,
                            Number launch, const LaunchSeen& seen, const Chip& chip,
                            const std::vector<std::string>& metrics, const std::vector<double>& values)
{
    for (std::size_t i = 0; i < metrics.size(); ++i)
        rows.push_back({device, scope, seen.label.layer, seen.label.phase, seen.kernel, launch, metrics[i], values[i],
                        chip.unit(metrics[i])});
}

}  // namespace roof::cupti
