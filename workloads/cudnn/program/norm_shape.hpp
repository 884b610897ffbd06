// One pass of a batch norm in training that a library computes in one operation.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"

#include <string>

namespace roof::cudnn {

/// Sums and values per channel are fp32.
struct NormShape {
    bool backward = false;
    int batch = 1;
    model::Shape map;
    Precision precision = Precision::fp32;  ///< of the maps; tf32 is stored as fp32
    bool relu = false;                      ///< fused ReLU; backward: fused gradient of the ReLU

    /// Returns "16x64x56x56, relu".
    std::string text() const;
};

}  // namespace roof::cudnn
