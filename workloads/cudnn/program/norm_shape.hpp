// What a pass of a batch norm in training computes, where a library computes all of it in one operation.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"

#include <string>

namespace roof::cudnn {

/// Sums and channels' numbers are fp32.
struct NormShape {
    bool backward = false;
    int batch = 1;
    model::Shape map;
    Precision precision = Precision::fp32;  ///< of maps; tf32: stored as fp32
    bool relu = false;                      ///< computed with it; backward: its way back

    /// "16x64x56x56, relu".
    std::string text() const;
};

}  // namespace roof::cudnn
