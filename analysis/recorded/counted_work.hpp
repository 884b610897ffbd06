// Work as counters saw it: from metrics by the names that Nsight Compute, CUPTI, perf and LIKWID give them to FLOPs by precision
// and bytes by memory level. The formulas:
//   fp64, fp32   add + mul + 2 fma of thread instructions (`…_op_fadd_pred_on.sum` and its kin); with packed pairs, where the chip
//                has them (fadd2, fmul2, ffma2), 2, 2 and 4 for each
//   fp16         2 add + 2 mul + 4 fma: instructions on pairs, as NVIDIA's own roofline weighs them
//   tensor       `sm__ops_path_tensor_src_…` counts FLOPs already; a sum and its parts by sparsity are never added together
//   bytes        DRAM: `dram__bytes`, or read and written, or sectors of 32 bytes; L2: `lts__t_…`; L1: `l1tex__t_…`
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
    std::map<std::string, Bytes> bytes;  ///< by level: L1, L2, DRAM
    std::vector<std::string> missing;    ///< what could not be counted, each a sentence

    Flops total() const;
    /// That of the most FLOPs; empty without any.
    std::string precision() const;
};

CountedWork count_work(const Metrics& metrics);

}  // namespace roof::analysis
