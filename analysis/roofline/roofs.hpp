// The roofs over a point: the best ceiling of each memory level and of each precision of a device, at one thread count.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// By the rule of Ceilings::roof(). The mixes point into the Ceilings object, which must outlive this one; the others
/// live as long as a copy.
struct Roofs {
    std::string device;
    int threads = 0;                      ///< thread count of the ceilings; 0 if there are none
    std::vector<const Ceiling*> levels;   ///< one per memory level, nearest to the core first
    std::vector<const Ceiling*> compute;  ///< multiply-adds, one per precision, highest first
    std::vector<const Ceiling*> mixes;    ///< the best mix of a precision, if it is above its multiply-adds
    std::vector<std::shared_ptr<const Ceiling>> made{};  ///< what `levels` and `compute` point to

    /// The ceiling of a memory level, or of a precision; null if it was not measured at this thread count.
    const Ceiling* level(const std::string& name) const;
    const Ceiling* precision(const std::string& name) const;
    bool empty() const { return levels.empty() && compute.empty(); }
    bool lasting() const
    {
        return std::ranges::any_of(levels, &Ceiling::lasting) || std::ranges::any_of(compute, &Ceiling::lasting);
    }
};

/// The roof of a memory level over some work.
struct LevelRoof {
    ByteRate roof{};              ///< for its accesses, read and written bytes together
    std::string access{};         ///< "load", "update" if one loop is fastest and has its mix, else "mix 2:1", reads
                                  ///< first; empty if reads and writes are not known
    bool is_lower_bound = false;  ///< the roof
    /// More is written than read, and no loop was measured that writes more than it reads: the writes have the rate of
    /// copies.
    bool writes_as_copies = false;
};

/// What names a roof: the level of a bandwidth, else the precision.
const std::string& level_or_precision(const Ceiling& roof);

/// "58.0 GB/s", or "≥ 58.0 GB/s" of a lower bound.
std::string rate_text(double rate, std::string_view unit, bool is_lower_bound);
std::string rate_text(const Ceiling& roof);
/// A share of a roof: "47%", or "≤ 47%" of a lower bound.
std::string share_of_roof(double share, bool is_lower_bound);

/// The roofs at `threads` if the device has a ceiling with that count, otherwise at the most threads.
Roofs roofs_of(const Ceilings& ceilings, const std::string& device, int threads = -1);

/// The highest of the chosen ceilings; null if none is chosen.
const Ceiling* fastest(const Ceilings& ceilings, const std::function<bool(const Ceiling&)>& is_chosen);
/// The highest without a condition of a level or precision at this thread count, by this operation and, unless empty,
/// ISA. Null if there is none.
const Ceiling* fastest_by(const Ceilings& ceilings, const std::string& device, int threads, std::string_view of,
                          std::string_view operation, std::string_view isa = "");

/// The devices in order of appearance.
std::vector<std::string> devices_of(const Ceilings& ceilings);

// Several devices that train together ("gpu:0,1"): group_roofs.cpp. Known: measured and added. Whether the devices
// reach their ceilings at the same time was not measured.

/// Appends the summed ceilings of each group of devices that a training step ran on, under the group's name: one for
/// each operation on each memory level, and one for each precision. A ceiling that any of the devices lacks is left
/// out. A device that was not calibrated counts as a calibrated one of the same model on `machine`. Capacities of
/// levels are summed, too. `variant` is "measured, added: gpu:0 + gpu:1 (as gpu:0)"; of emulated GPUs "emulated, added:
/// …".
Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows, const Machine& machine);

struct NodeCeilings {
    std::string node;
    Ceilings ceilings;
};

/// The roofs of ranks on several nodes, which wait for each other: each ceiling is that of the slowest node, times
/// their number; capacities of levels are summed. A ceiling that any node lacks is left out. `variant` is "4 x n3, the
/// slowest". Known: measured; that all nodes have equal work is assumed.
Ceilings over_nodes(const std::vector<NodeCeilings>& nodes);

/// Bytes that the link of each rank carries each way in a step: the bytes of the messages times 2(n-1)/n for a ring
/// all-reduce (docs/parallel.md); times 1 if parameters are broadcast and gradients reduced to one rank. 0 for one
/// rank. Known: measured messages, analytic factor.
Bytes link_bytes(const Measurement& row);

/// The fastest measured all-reduce between GPUs, in bytes that each link carries each way (`bus`). Null if there is
/// none.
const Ceiling* link_between_gpus(const Ceilings& ceilings);
/// The fastest all-reduce that was measured over as many ranks (bench `network`). Null if there is none.
const Ceiling* link_between_nodes(const Ceilings& ceilings, int ranks);

// What lasts: the roofs that probes reached over seconds (ert/method/plan/measure.hpp), beside those of bursts of
// milliseconds.

/// The ceilings with the rates that these probes sustained (`Ceiling::lasting`). Where one ceiling of a
/// precision or level was repeated with a number of threads, its ceilings that were not repeated are left out. A probe
/// during which other programs ran is left out, too. Empty if no probe is of a ceiling.
Ceilings with_lasting(Ceilings bursts, std::span<const Measurement> probes);

/// Whether a step ran for seconds: it was repeated for what lasts, or its counted launches took two seconds together.
bool lasts(const Measurement& row);

/// Whether one of the levels, or this compute roof, which may be null, is lasting.
bool has_lasting(const Roofs& roofs, const Ceiling* compute);

// How good a calibration is, in one sentence. Every command that uses ceilings says it.

/// The roofs that a calibration of these rows lacks, as where it was cut short: "fp64 with 2 threads", "DRAM with 1
/// thread". Of each number of threads: the precisions and levels that another number has, what was skipped, and memory.
std::vector<std::string> missing_roofs(const Ceilings& ceilings, std::span<const Measurement> rows);

/// "94 of 132 ceilings are lower bounds, 3 are unsteady: a core was shared 70% of the time." The time is that of the
/// samples of `rows`, the calibration's, and the reason the most frequent one; or too few rounds. Further sentences say
/// what shows whether a ceiling that was seen once is steady, and name missing_roofs() and the number of rows that were
/// skipped. Empty without ceilings.
std::string calibration_quality(const Ceilings& ceilings, std::span<const Measurement> rows);

}  // namespace roof::analysis
