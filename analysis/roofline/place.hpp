// Placing: a measurement put on the measured rooflines of its machine.
//   bytes at a level   low = compulsory; high = compulsory if that footprint fits into the caches nearer to the core than
//                      the level, else no_reuse
//   intensity          FLOPs / bytes, so an interval too
//   attainable time    max(executed FLOPs / compute roof, compulsory bytes / bandwidth roof of each level); of a step or a
//                      phase, the sum over its parts, which run one after another
//                      of ranks on several devices at least what the link between them takes for the messages
//   fraction           attainable / measured time;  headroom = measured - attainable, never below 0
// Rate and intensity count the model's FLOPs. Executed are those FLOPs too, unless the algorithm is known to do with others
// (Winograd's, or a direct convolution that leaves out the padding): then the rate may lie above a roof, and the note says why.
#pragma once

#include "analysis/roofline/bottleneck.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

enum class Scope { step, phase, layer };

std::string_view name(Scope scope);

/// The traffic of a piece of work at one memory level, and the roof there.
struct LevelPlacement {
    std::string level;
    Bytes low;
    Bytes high;
    Known known = Known::analytic;
    Intensity intensity_low;   ///< FLOPs / high
    Intensity intensity_high;  ///< FLOPs / low
    ByteRate roof;             ///< the level's measured bandwidth
};

/// Whether work at this rate and compulsory traffic stands above the level's slanted roof: then fewer bytes came from there than were
/// counted, for the others were still in a cache nearer to the core.
bool is_above(const LevelPlacement& level, FlopRate rate);

/// What limits the time of a piece of work. Below half of its roof, neither the level nor the precision is what binds. Then it is
///   launch     if its roofs allow less time than the shortest part of the row took (measured), and it took no more than
///              twice that
///   latency    if it took about as long, within a factor of two, as fetching its compulsory lines from memory one after
///              another on each thread
///   unexplained  if neither explains it
enum class Bound { unknown, compute, bandwidth, unexplained, launch, latency };
inline constexpr std::array all_bounds{Bound::unknown,     Bound::compute, Bound::bandwidth,
                                       Bound::unexplained, Bound::launch,  Bound::latency};

std::string_view name(Bound bound);
inline constexpr double unexplained_fraction = 0.5;

struct Placement {
    std::string row;  ///< Measurement::id() of the row it comes from
    std::string model;
    long long batch = 0;
    std::string device;
    std::string precision;
    std::string data;  ///< as data_of() names it
    int threads = 0;   ///< of the row; 0 if it does not say
    Scope scope = Scope::step;
    std::string name;  ///< the layer's, the phase's or the model's
    std::string kind;  ///< the layer's kind; empty for steps and phases
    std::optional<Phase> phase;
    std::string implementation;

    Estimate<Seconds> seconds;
    Flops flops;                         ///< the model's
    Flops executed;                      ///< by the algorithms at work; 0 if they are not known to differ
    Known known = Known::analytic;       ///< how FLOPs and bytes are known
    Estimate<FlopRate> rate;             ///< flops / seconds
    std::vector<LevelPlacement> levels;  ///< nearest to the core first; empty without ceilings

    /// Of a step on several devices, as if the link between them were a level: bytes that each one's carries each way (link.hpp)
    /// under the fastest all-reduce that was measured. None for anything else.
    std::optional<LevelPlacement> link;

    FlopRate compute_roof;  ///< of the row's precision; 0 if it was not measured
    int roof_threads = 0;   ///< the thread count of the roofs
    std::string binds;  ///< the level or precision under which most of the attainable time lies; empty without ceilings
    bool binds_compute = false;
    std::vector<Bottleneck>
        bottlenecks;  ///< what may be said to bind it (analysis/roofline/bottleneck.hpp), the likeliest first
    Bound beyond_roofs = Bound::unexplained;  ///< what bound() says below half of the roof
    Seconds attainable;                       ///< 0 without ceilings
    double fraction = 0;                      ///< may exceed 1; then `above`, and `note` says why that can be
    Seconds headroom;
    bool above = false;
    std::string note;

    Bound bound() const;
};

/// One placement for the step, one per phase and one per part, in this order. None for a row that is not ok or no step.
/// Roofs are those of the row's threads, else those of the most threads, and then the note says so.
/// `machine` is that of the ceilings: it says how a cache's capacity grows with the threads in use.
std::vector<Placement> place(const Measurement& row, const Ceilings& ceilings, const Machine& machine);

}  // namespace roof::analysis
