// The meaning of hardware counters: the quantity, factor and chips of each metric, read from configs/counters/*.yaml.
// The recorder requests the metrics, and the analysis uses the formulas.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// A metric, and the amount of a quantity for one unit of its value (SI, without prefix).
struct CounterMetric {
    std::string quantity;  ///< time, bytes.L1, bytes.device, flops.fp32, tensor.bf16, …
    std::string set;       ///< metrics that are requested together
    std::string metric;    ///< the name in CUPTI and Nsight Compute
    double factor = 1;
    std::string source;  ///< the reason for this metric and factor

    /// Names of the families that have the metric; empty: all.
    std::vector<std::string> families{};
};

/// Chips with the same metrics.
struct ChipFamily {
    std::string name;
    std::vector<int> capabilities;      ///< compute capability times ten
    std::vector<std::string> chips;     ///< names from the driver, such as "GH100"
    std::map<std::string, int> passes;  ///< launches that a set takes; "usual": all sets but `rare`, "all": every set
};

struct CounterTable {
    int cupti = 0;  ///< the CUPTI version of these numbers of passes
    std::vector<ChipFamily> families;
    std::vector<CounterMetric> metrics;

    /// The family of the chip; null if there is none.
    const ChipFamily* family_of_chip(std::string_view chip) const;

    /// The metrics of one family, in the order of the table. `set` may be "usual" or "all".
    std::vector<CounterMetric> metrics_of(const ChipFamily& family, std::string_view set) const;
};

/// Throws InputError with `name` and line for a malformed table, an unknown name, or a metric that a family has twice.
CounterTable read_counter_table(const std::string& text, const std::string& name);

/// configs/counters/nvidia.yaml at build time.
const CounterTable& built_in_counter_table();

}  // namespace roof
