// The roofs over one measured row: those of its threads and precision, and of each level for the reads and writes of a work.
#pragma once

#include "analysis/roofline/mix_roof.hpp"
#include "analysis/roofline/roofs.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// The roofs over one row, and the capacity of the caches nearer to the core than each level.
struct RowRoofs {
    Roofs roofs;
    const Ceiling* compute = nullptr;
    std::vector<Bytes> nearer;  ///< one entry for each of roofs.levels
    std::string note;
    std::vector<std::vector<MeasuredAccess>> accesses{};  ///< one entry for each of roofs.levels
};

/// The roofs of the row's threads; with a note where others are used or a roof is missing. `machine`: of the ceilings.
RowRoofs look_up(const Measurement& row, const Ceilings& ceilings, const Machine& machine);

/// The roof of a level for a piece of work; without a name if its reads and writes are not known.
MixRoof roof_of(const Work& work, const RowRoofs& over, std::size_t level);
/// The roof of a level for works that run one after another: all bytes over the sum of the times.
MixRoof roof_of(const std::vector<const Work*>& works, const RowRoofs& over, std::size_t level);

/// Appends to a note, after a semicolon.
void remark(std::string& note, const std::string& more);

}  // namespace roof::analysis
