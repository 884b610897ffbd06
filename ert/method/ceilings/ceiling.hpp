// A ceiling: the measured rate of a memory level or of a precision. A device's roofline is the set of its ceilings.
#pragma once

#include "ert/method/ceilings/plateaus.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The rate is in FLOP/s, byte/s or lines/s, by kind; `unit()` says which. Per clock it is that of one thread. The
/// clock is that of the cores under similar work over the run (run_clock.hpp), on a GPU that beside the samples.
struct Ceiling : SustainedRate {
    /// Without a rate; `steady`.
    Ceiling()
    {
        steadiness = Steadiness::steady;
        rounds = 1;
    }

    std::string device;
    Role kind = Role::bandwidth;  ///< bandwidth, compute or latency
    std::string level;            ///< as in ert/method/bench/level.hpp, or the name of a path
    std::string operation;        ///< load, store, copy, …; fma, fma+add, best, …; chase
    std::string precision;        ///< empty for bandwidth where it does not matter
    std::string isa;
    std::string condition;  ///< "small pages", "siblings", "node 0 from node 1"; empty for the default
    int threads = 1;
    bool packs_cores = false;  ///< threads fill the hardware threads of one core before the next
    int devices = 1;           ///< whose measured rates are summed here
    Bytes working_set_low{};   ///< the plateau's extent; compute has none
    Bytes working_set_high{};
    Bytes working_set{};  ///< at which the rate was measured
    std::string variant;  ///< the fastest variant in the probe's search
    Known known = Known::measured;
    /// In the unit of `rate`: the median of all samples, disturbed ones included; 0 if not known.
    double typical = 0;
    std::string point;  ///< the row's identity without its round: "bench device axis=value …"
    /// The largest share of the working set that a nearer level may have served; 0 if none, or if not known.
    double nearer_share = 0;
    /// Of a roof that is a lower bound because something faster may not have been measured: "fma avx2 was not
    /// measured". Else empty.
    std::string stands_in{};
    /// Of one that changed: "changed at 12 s: 206 GB/s, then 148 GB/s; 3.2 GHz, then 2.4 GHz". Else empty.
    std::string change{};
    std::vector<Round> samples{};            ///< of which the rate is made
    bool per_clock_compared = false;         ///< since the clock varied
    bool lasting = false;                    ///< over seconds, not of bursts (analysis/roofline/roofs.cpp)
    std::optional<double> between{};         ///< half_widths_between() times (looks.hpp)
    std::optional<double> between_others{};  ///< the same without the time of this calibration
    SustainedRate alone{};  ///< by the calibration alone, to compare calibrations; empty where `rate` is that

    std::string_view unit() const
    {
        return kind == Role::bandwidth ? "B/s" : kind == Role::latency ? "lines/s" : "FLOP/s";
    }
    /// The typical rate as a share of the ceiling, at most 1; 1 if not known.
    double typical_share() const
    {
        return typical > 0 && typical < rate.median.value ? typical / rate.median.value : 1;
    }
    /// Over which the interval of the rate is Student's; 0 for a lower bound, whose interval is one over samples.
    int rounds_of_interval() const { return steadiness == Steadiness::at_least ? 0 : rounds; }
    /// The time of one access, for a latency.
    Seconds per_access() const { return {rate.median.value > 0 ? 1 / rate.median.value : 0}; }
};

/// Sets rate, state, rounds, and the rate per clock and thread.
void take_rate(const SustainedRate& sustained, Ceiling& ceiling);

/// What a calibration, or the few rounds after a run, saw of a ceiling.
struct Look {
    long long time = 0;     ///< seconds since 1970
    bool is_of_now = true;  ///< the machine's state (identity.hpp) was then what it is now
    Ceiling ceiling{};      ///< `samples`: what was seen; its clock counts if `per_clock_compared`
};

/// Whether each core has its own instance of a cache level or all cores share one. `unclear` where only one thread
/// count was measured, the sizes fit neither, or the machine reports the opposite.
enum class Sharing { unclear, per_core, shared };
constexpr EnumNames<Sharing::shared> names_of(Sharing)
{
    return {"sharing", {"unclear", "per core", "shared"}};
}

/// A memory level found in working-set sweeps: a plateau of bandwidth and latency, and the capacity that the machine
/// reports for it.
struct MeasuredLevel {
    std::string device;
    std::string name;
    Bytes from;    ///< smallest working set of which the level before may serve less than a tenth; if none, the largest
                   ///< of the plateau
    Bytes to;      ///< largest working set of which the level serves at least half
    Bytes edge{};  ///< the working set of which it serves half, between measured ones; 0 if no set lies past it
    Bytes reported;              ///< total capacity reported for that many threads; 0 if none
    bool contradiction = false;  ///< that and the edge differ by more than a factor of two
    int threads = 1;
    Bytes beyond{};  ///< smallest working set past the edge; 0 if none
    Sharing sharing = Sharing::unclear;
    /// Found by loads that pass the L1, because only those show it: on a GPU all L1s together hold nearly as much as
    /// the L2. Its plateau may begin below the L1's end, and only what passes the L1 is measured on it.
    bool past_l1 = false;
    /// The sweep's working sets, B/s, that this level alone serves: from `from` to where rates begin to fall towards
    /// the next level.
    std::vector<RatePoint> swept{};
    Bytes clear{};   ///< from here on a nearer level typically serves nothing
    Bytes nearer{};  ///< the edge of the level before; 0 if none
    /// Of the farthest: undisturbed loads of the sweep's largest set are slower by a fifth than those of the one
    /// before, so another level may begin there.
    bool still_falls = false;
};

/// A loop of multiply-adds that the machine can run and that was not measured.
struct Unmeasured {
    std::string device;
    std::string precision;
    int threads = 1;
    std::string operation;
    std::string isa;
};

/// Whether a roof may be made of these operations: fma, mul+add, dot, tile, widened, a library's matmul, and the peaks
/// of the Empirical Roofline Tool ("FP64 GFLOPs"), which are of multiply-adds. `best` and `fma+add` are none, because
/// their independent additions do not occur in convolutions and matrix products.
bool is_multiply_add(std::string_view operation);

struct Ceilings {
    std::vector<Ceiling> all;
    /// Levels of each device, from its load sweep with the most threads, fastest first.
    std::vector<MeasuredLevel> levels;
    /// The same for every thread count that has a load sweep.
    std::vector<MeasuredLevel> levels_by_threads{};

    std::vector<Unmeasured> unmeasured{};
    /// No ceilings, since no level is slower than a farther one; `stands_in` says what was faster. A lower bound below
    /// it shows only interference; else the farther one was served by a nearer level.
    std::vector<Ceiling> refused{};

    /// The fastest operation on a memory level with so many threads. Null if there is none.
    const Ceiling* bandwidth(const std::string& device, const std::string& level, int threads) const;
    /// The highest compute ceiling of a precision over all instruction mixes. Null if there is none.
    const Ceiling* compute(const std::string& device, const std::string& precision, int threads) const;
    /// The roof of a memory level or of a precision: the one rule, for every table, picture, export and program.
    ///
    /// The fastest operation on the level, or the fastest multiply-adds of the precision on any instruction set, with
    /// so many threads or fewer: more threads never make a lower roof. It is a lower bound, with the reason in
    /// `stands_in`, if it was measured with fewer threads alone, or while an instruction set that is as wide or wider
    /// was not measured. Empty if nothing was measured.
    std::optional<Ceiling> roof(Role kind, const std::string& device, const std::string& name, int threads) const;
    /// How the rates are known, by the first ceiling.
    Known known() const { return all.empty() ? Known::measured : all.front().known; }
    /// The most threads any ceiling of the device was measured with; 0 if none.
    int most_threads(const std::string& device) const;
};

/// The ceilings of these points on these levels: arithmetic, levels, NUMA nodes, latencies, paths, in this order. The
/// fit makes them once; the scheduler makes them to see which are not steady.
///
/// On a plateau: of the fastest pair of neighbouring working sets (levels.hpp) the slower one. A latency is taken at
/// the middle of the plateau, since near its lower end the previous level still serves some lines. On a path: the
/// fastest of all message sizes.
///
/// The core, L1, L2 and L3 of a CPU scale with its clock; where that varied, their rate is the one per clock times the
/// run's clock. A GPU's clock depends on the kernel's power, so its rates stay as measured.
std::vector<Ceiling> ceilings_of(const std::vector<PointSummary>& points, const std::vector<MeasuredLevel>& levels);

/// Finds the plateaus of the working-set sweeps and the best rates. A pure function of the rows, called once when they
/// are complete; rows that are not ok are skipped. Levels are found from the rates alone, not from the reported sizes.
/// `seen`: the looks at these ceilings, that of the rows included; then all judge each rate together (looks.hpp).
/// Without rows the ceilings are those of the newest looks. Empty: the rows judge alone.
Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine, std::span<const Look> seen = {});

// What more rounds would bring, from the samples that are there.

/// The ceilings that are lower bounds because too few samples were undisturbed.
struct LowerBounds {
    std::size_t ceilings = 0;
    std::size_t rounds = 0;  ///< measured so far of their points
};
LowerBounds lower_bounds(std::span<const Measurement> rows, const Machine& machine);

/// How many of them would have enough undisturbed samples if their points were measured `times` more times as often as
/// so far, and the machine stayed as busy as it was: each of their rounds then counts `times` more times.
std::size_t settled_by_more(std::span<const Measurement> rows, const Machine& machine, int times);

}  // namespace roof
