// The meaning of hardware counters: which metric counts towards which quantity, with which factor, on which chips. Read from
// configs/counters/*.yaml; the recorder requests its metrics, the analysis uses its formulas.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// A metric, and what one unit of its value (SI, without prefix) adds to a quantity.
struct CounterMetric {
    std::string quantity;  ///< time, bytes.L1, bytes.device, flops.fp32, tensor.bf16, …
    std::string set;       ///< metrics that are requested together
    std::string metric;    ///< as CUPTI and Nsight Compute name it
    double factor = 1;
    std::string source;  ///< why this metric with this factor

    /// Names of the families that have it; empty: all of them.
    std::vector<std::string> families{};
};

/// Chips with the same metrics.
struct ChipFamily {
    std::string name;
    std::vector<int> capabilities;      ///< compute capability times ten
    std::vector<std::string> chips;     ///< as the driver names them: "GH100"
    std::map<std::string, int> passes;  ///< launches that a set takes; "usual": all sets but `rare`, "all": all of them
};

struct CounterTable {
    int cupti = 0;  ///< the version of CUPTI whose passes those are
    std::vector<ChipFamily> families;
    std::vector<CounterMetric> metrics;

    /// The first of that compute capability times ten; null if no family has it.
    const ChipFamily* family_of(int capability) const;
    /// Null if no family has the chip.
    const ChipFamily* family_of_chip(std::string_view chip) const;

    /// Of one family, in the order of the table; `set` may be "usual" or "all".
    std::vector<CounterMetric> metrics_of(const ChipFamily& family, std::string_view set) const;
};

/// Throws InputError with `name` and line for a malformed table, an unknown family, set or source, and a metric that a family would count
/// twice.
CounterTable read_counter_table(const std::string& text, const std::string& name);

/// configs/counters/nvidia.yaml, as it was when this was built.
const CounterTable& built_in_counter_table();

/// The quantities that follow from `values`, raw metrics by name, on that family. A quantity with a missing metric is left out, since its
/// sum would be incomplete.
std::map<std::string, double> quantities_of(const CounterTable& table, const ChipFamily& family,
                                            const std::map<std::string, double>& values);

}  // namespace roof
