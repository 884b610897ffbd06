// Measured ceilings beside the data sheet of the device: what the maker publishes, and how much of it was reached.
#pragma once

#include "analysis/study/ceiling_tables.hpp"
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

/// For each device whose model a sheet of the study names, in the order of devices: peaks of precisions, then memory levels, each
/// that was measured. Empty where no sheet names a device.
std::vector<SheetShare> beside_sheets(const Study& study);

/// The same as text; no rows where there is nothing.
TextTable sheet_table(const Study& study);

/// Where the figures of the sheets come from, and that they are nobody's measurement; empty if there are none.
std::string sheet_footnote(const Study& study);

}  // namespace roof::analysis
