// Placing: a measurement under the measured rooflines of its machine.
//   bytes at a level   low = compulsory; high = compulsory if that footprint fits into the caches nearer to the core
//                      than the level, else no_reuse
//   intensity          FLOPs / bytes, so an interval too
//   bandwidth roof     of a level: of the work's own mix of reads and writes (mix_roof) where they are known, else the
//                      level's fastest measured operation
//   attainable time    max(executed FLOPs / compute roof, compulsory bytes / bandwidth roof of each level); for a step
//                      or a phase the sum over its parts, which run one after another, where a part above its roof adds
//                      its measured time; for ranks on several devices at least the time that the link between them
//                      takes for the messages
//   share of attainable = attainable / measured time (`fraction`);  headroom = measured - attainable, never below 0
//   bottleneck         the roof that binds, and the confidence in it. The rates of the roofs are intervals, so the
//                      binding roof is determined for many random sets of roofs. If no roof binds in 95% of them, both
//                      candidates are named with their shares.
//                      A random rate is median * exp(t * s), with t from Student's distribution for the rounds of the
//                      interval, or z from the normal one for an interval over samples, and s the interval's half-width
//                      over half_width_in_errors(), on each side its own (Known: measured). Roofs are independent of
//                      each other; all work of a row uses the same draw. Draws are the same in every run. Traffic is
//                      compulsory.
// Rate and intensity count the model's FLOPs. Executed FLOPs may be fewer (Winograd, or a direct convolution without
// padding). Then the rate may be above a roof, and the note gives the reason.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "ert/base/names.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

enum class Scope { step, phase, layer };

constexpr EnumNames<Scope::layer> names_of(Scope)
{
    return {"scope", {"step", "phase", "layer"}};
}

/// The traffic of a piece of work at one memory level, and that level's roof.
struct LevelPlacement : LevelRoof {
    std::string level;
    Bytes low;
    Bytes high;
    Known known = Known::analytic;
    Intensity intensity_low;   ///< FLOPs / high
    Intensity intensity_high;  ///< FLOPs / low
    Bytes again{};             ///< beside `low`, by the blocking of the implementation (Work::refetched)
};

/// The bytes that a piece of work moves between a level and the caches nearer to the core. Counted bytes have one
/// value.
struct LevelBytes {
    Bytes low;
    Bytes high;
    Known known = Known::analytic;
};

/// "1.79 GB", "1.79 GB to 88.4 GB".
std::string bytes_text(const LevelBytes& bytes);

/// Whether the rate with compulsory traffic is above the level's bandwidth roof. Then some counted bytes were in a
/// cache nearer to the core.
bool is_above(const LevelPlacement& level, FlopRate rate);

/// The limit of the time of a piece of work. Below half of its roof, no roof binds. Then it is
///   launch       if its roofs allow less than the measured time of the shortest part of the row, and it took at most
///                twice that
///   latency      if it took as long, within a factor of two, as fetching its compulsory lines from memory one after
///                another on each thread
///   unexplained  otherwise
enum class Bound { unknown, compute, bandwidth, unexplained, launch, latency };
constexpr EnumNames<Bound::latency> names_of(Bound)
{
    return {"bound", {"unknown", "compute", "bandwidth", "unexplained", "launch", "latency"}};
}
inline constexpr double unexplained_fraction = 0.5;
/// The least share of attainable that is shown as "> 100%"; a smaller one is 100% rounded.
inline constexpr double shown_as_above = 1.005;

/// A roof, and the share of the draws in which it binds.
struct Bottleneck {
    std::string roof;
    double share = 0;
};

struct Piece {
    std::string row;  ///< Measurement::id() of the row it comes from
    std::string model;
    long long batch = 0;
    std::string device;
    std::string precision;
    std::string data;  ///< source of the images, see data_of()
    int threads = 0;   ///< thread count of the row; 0 if unknown
    Scope scope = Scope::step;
    std::string name;  ///< the layer's, the phase's or the model's
    std::string kind;  ///< the layer's kind; empty for steps and phases
    std::optional<Phase> phase;
    std::string implementation;

    /// Empty for a step.
    std::string phase_name() const { return phase ? std::string(roof::name(*phase)) : ""; }
};

struct MeasuredWork {
    Estimate<Seconds> seconds;
    Flops flops;                    ///< the model's
    Flops executed;                 ///< FLOPs of the algorithms; 0 if the same as `flops`
    Known known = Known::analytic;  ///< how FLOPs and bytes are known
    Estimate<FlopRate> rate;        ///< flops / seconds
    bool is_lower_bound = false;    ///< Work::at_least: so are FLOPs and rate

    /// The FLOPs that the algorithms execute.
    Flops done() const { return executed.value > 0 ? executed : flops; }
};

struct WorkRoofs {
    std::vector<LevelPlacement> levels;  ///< nearest to the core first; empty without ceilings or bytes
    std::vector<LevelBytes> moved{};     ///< one for each of `levels`; empty if not known. place() leaves it empty
    /// The link between the devices of a step as a level, with the bytes that each link carries each way (link_bytes())
    /// and the fastest measured all-reduce. nullopt for one device.
    std::optional<LevelPlacement> link;
    FlopRate compute_roof;             ///< roof of the row's precision; 0 if it was not measured
    bool peak_is_lower_bound = false;  ///< that roof
    int roof_threads = 0;              ///< the thread count of the roofs
    bool lasting = false;              ///< among them are roofs over seconds (roofs.cpp)
};

/// The least time that the roofs allow, and which of them asks for it.
struct LeastTime {
    Seconds attainable;  ///< 0 without ceilings
    /// The ends of 95% of the draws of the roofs, from which it is as far as the roofs are uncertain; 0 without
    /// ceilings.
    Seconds attainable_low;
    Seconds attainable_high;
    std::string binds;  ///< the level or precision under which most of that time lies; empty without ceilings
    bool binds_compute = false;
    bool is_sum = false;                  ///< over several works
    std::vector<Bottleneck> bottlenecks;  ///< the most likely first
    bool roof_may_be_higher = false;      ///< a roof that limits it is a lower bound (Steadiness::at_least)
    /// A level that binds got bytes of which the nearer caches may have held so many that another roof allows less for
    /// the rest.
    bool nearer_may_bind = false;
    /// With `high` in place of `low` bytes the roofs would allow more of the measured time; or the bytes are unknown.
    bool bytes_may_be_more = false;
};

struct Placement : Piece, MeasuredWork, WorkRoofs, LeastTime {
    Bound beyond_roofs = Bound::unexplained;  ///< bound() below half of the roof
    /// Above a bandwidth roof: the farthest level whose roof allows the measured time. Empty otherwise, or if none
    /// does.
    std::string served_by{};
    std::string note;  ///< why it is above its roof, and what is not known of it

    /// The share of attainable; 0 without ceilings.
    double fraction() const { return binds.empty() || seconds.median.value <= 0 ? 0 : attainable / seconds.median; }
    bool above() const { return fraction() > 1; }
    Seconds headroom() const { return binds.empty() ? Seconds{} : std::max(Seconds{}, seconds.median - attainable); }
    Bound bound() const;
    /// Whether `fraction` is an upper bound: the true roofs may allow less time, and more bytes cannot ask for more.
    bool is_at_most() const { return roof_may_be_higher && !bytes_may_be_more; }
    /// The rate over the compute roof, by the model's FLOPs; 0 without a compute roof.
    double share_of_peak() const { return compute_roof.value > 0 ? rate.median / compute_roof : 0; }
};

/// One placement for the step, one per phase and one per layer, in this order. Empty for a row that is not ok or not
/// a step. The roofs are those of the row's threads, or, with a note, of the most threads. `machine` is
/// the machine of the ceilings: a cache's capacity depends on how many instances the threads use.
std::vector<Placement> place(const Measurement& row, const Ceilings& ceilings, const Machine& machine);

/// Sets the bottlenecks of the placements of one row (step, phases, layers, in that order).
void find_bottlenecks(std::span<Placement> placements, const Roofs& roofs);
/// Whether one roof binds in at least 95% of the draws.
bool is_confident(const Placement& placement);
/// Half the width of the interval of the least time of a step between times, as a logarithm: what its roofs differ by
/// between looks, each by its share of that time. Of the layers; of a step without any, of the step. Nothing with a
/// roof that was seen at one time. `of_row`: the placements of one row.
std::optional<double> between_times(std::span<const Placement> of_row, const Roofs& roofs);
/// "DRAM", or "DRAM mix 2:1" with the access of its roof if that is known; "fp32 or DRAM (71 / 29%)" if neither is
/// confident; "DRAM or a nearer level" with Placement::nearer_may_bind; empty without ceilings.
std::string bottleneck_text(const Placement& placement);

// In words (bottleneck.cpp).

/// "up to ", "at least ", "about " or nothing: what the intervals of the bytes and the roofs allow to say of a
/// headroom.
std::string_view headroom_sense(bool roof_may_be_higher, bool bytes_may_be_more);
/// The share of attainable: "78%", or "≤ 78%" if it is an upper bound. Above its roof "> 100%, from L3", with
/// Placement::served_by.
std::string share_text(const Placement& placement);
/// The accesses if they are known, and how often each byte moves if that is more than once: "update", "mix 2:1, each
/// byte 2.4 times".
std::string accesses_text(const LevelPlacement& level);
/// A level or precision, with the accesses of its roof if they are known: "DRAM update", "DRAM mix 2:1", "fp32".
std::string roof_name(const Placement& placement, const std::string& roof);
/// The arithmetic of a point: FLOPs, bytes, time, and its roof. `name`: in place of a step's model and batch.
std::string explain(const Placement& placement, const std::string& name = {});
/// Why the point is above the roof of the farthest level, and the time that its bytes would take without reuse. Each
/// sentence starts with a blank. Empty if neither applies.
std::string remarks_on(const Placement& placement);

/// The step's placement; null if the row is not ok.
const Placement* step_placement(std::span<const Placement> placements, const Measurement& row);
std::vector<const Placement*> layers_of(std::span<const Placement> placements, const Measurement& row);

/// The times that the memory roofs alone and the compute roof alone allow.
struct Needs {
    Seconds memory;   ///< the most that a level's roof allows; 0 without one
    Seconds compute;  ///< executed FLOPs over the compute roof; 0 without one
};

/// The placement must have levels.
Needs needs_of(const Placement& p);

}  // namespace roof::analysis
