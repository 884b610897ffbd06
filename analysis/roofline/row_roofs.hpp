// The roofs over one measured row: those of its threads and precision, and the bandwidth roof of each memory level
// for the reads and writes of its work.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The bytes that the instructions of an operation read and write, of each byte counted. They add up to 1.
struct Access {
    double read = 0;
    double written = 0;
};

/// nullopt for an operation whose reads and writes are not known.
std::optional<Access> access_of(std::string_view operation);

/// A loop that was measured on a level.
struct MeasuredLoop {
    const Ceiling* ceiling = nullptr;
    Access access;
    bool may_be_higher = false;  ///< it, or the roof of its level, is a lower bound
};

/// The ceilings whose reads and writes are known, of the level and the threads with which its roof was measured. They
/// point into `ceilings`.
std::vector<MeasuredLoop> loops_of(const Ceilings& ceilings, const std::string& device, const Ceiling& roof);

/// Of the roof of a work that writes more than it reads, where no loop was measured that does.
inline constexpr std::string_view writes_as_copies_words =
    "which has the rate of copies for writes beyond what is read, until stores are measured";

/// The roof for a mix of reads and writes, a lower bound if one of its loops is. nullopt if the measured loops cannot
/// do the mix, or if nothing is read or written.
std::optional<LevelRoof> mix_roof(const std::vector<MeasuredLoop>& measured, Bytes read, Bytes written);

/// The roofs over one row, and the capacity of the caches nearer to the core than each level.
struct RowRoofs {
    Roofs roofs;
    const Ceiling* compute = nullptr;
    std::vector<Bytes> nearer;  ///< one entry for each of roofs.levels
    std::string note;
    std::vector<std::vector<MeasuredLoop>> loops{};  ///< one entry for each of roofs.levels
};

/// The roofs of the row's threads; with a note where others are used or a roof is missing. `machine`: of the ceilings.
/// None for a step on a GPU whose bytes are not those of its operations, although these fuse batch norms.
RowRoofs look_up(const Measurement& row, const Ceilings& ceilings, const Machine& machine);

/// The roof of a level for a piece of work, in compulsory bytes: the lower, the more is moved again (Work::refetched).
/// Without its access if reads and writes are not known.
LevelRoof roof_of(const Work& work, const RowRoofs& over, std::size_t level);
/// The roof of a level for works that run one after another: all bytes over the sum of the times.
LevelRoof roof_of(const std::vector<const Work*>& works, const RowRoofs& over, std::size_t level);

/// Appends to a note, after a semicolon.
void remark(std::string& note, const std::string& more);

}  // namespace roof::analysis
