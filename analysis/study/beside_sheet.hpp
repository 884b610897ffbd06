// Measured ceilings beside the data sheet of the device.
#pragma once

#include "analysis/study/study.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

struct SheetShare {
    std::string device;
    std::string what;    ///< "bf16" or "DRAM"
    double spec = 0;     ///< as published for the whole device, FLOP/s or B/s. Known: spec
    Rate measured;       ///< the highest ceiling of that precision or level. Known: measured
    std::string unit;    ///< "FLOP/s" or "B/s"
    std::string source;  ///< the sheet and where its figures are published

    double share() const { return measured.median.value / spec; }
};

/// For each device whose model is on a sheet of the study: the measured peaks of precisions, then the measured memory
/// levels.
std::vector<SheetShare> beside_sheets(const Study& study);

/// A sentence with the sources of the sheets' figures, which are not measured. Empty if there are none.
std::string sheet_footnote(const Study& study);

}  // namespace roof::analysis
