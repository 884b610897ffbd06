// Work as counters saw it: from metrics by the names that Nsight Compute, CUPTI, perf and LIKWID give them to FLOPs by precision
// and bytes by memory level. What a GPU's metric counts, and with which factor, is in configs/counters/nvidia.yaml, which the
// recorder asks by, too; what older files have in place of these is read here: sectors of 32 bytes, `sm__sass_…` for `smsp__sass_…`,
// the parts of a tensor metric by sparsity, which are never added to it.
// A precision or a level of which a part is missing is not counted at all, and named.
#pragma once

#include "ert/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// A value in an SI unit without prefix, as counters.csv has it.
struct Metric {
    double value = 0;
    std::string unit;
};

using Metrics = std::map<std::string, Metric, std::less<>>;

struct CountedWork {
    std::map<std::string, Flops> flops;  ///< by precision
    std::map<std::string, Bytes> bytes;  ///< by level: L1, shared, L2, DRAM
    std::vector<std::string> missing;    ///< what could not be counted, each a sentence

    Flops total() const;
    /// That of the most FLOPs; empty without any.
    std::string precision() const;
};

CountedWork count_work(const Metrics& metrics);

}  // namespace roof::analysis
