// Work by hardware counters: metrics of Nsight Compute and CUPTI, and the names of our own counts, become FLOPs by
// precision and bytes by memory level. configs/counters/nvidia.yaml defines the GPU metrics and their factors. Older
// files are supported: sectors of 32 bytes, `sm__sass_…` for `smsp__sass_…`, and tensor metrics by sparsity, which are
// not added to their sum. A precision or level with an incomplete set of metrics is not counted; it is listed as
// missing.
#pragma once

#include "ert/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// A value in an SI unit without prefix, as in counters.csv.
struct Metric {
    double value = 0;
    std::string unit;
};

using Metrics = std::map<std::string, Metric, std::less<>>;

struct CountedWork {
    std::map<std::string, Flops> flops;  ///< by precision
    std::map<std::string, Bytes> bytes;  ///< by level: L1, shared, L2, DRAM
    std::vector<std::string> missing;    ///< sentences about amounts that could not be counted

    Flops total() const;
    /// The precision with the most FLOPs; empty without FLOPs.
    std::string precision() const;
};

CountedWork count_work(const Metrics& metrics);

}  // namespace roof::analysis
