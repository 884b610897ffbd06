// A ceiling: a measured rate of a memory level or of a precision. The roofline of a device is the set of its ceilings.
#pragma once

#include "ert/method/ceilings/point_summary.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof {

struct Ceiling {
    std::string device;
    Role kind = Role::bandwidth;  ///< bandwidth, compute or latency
    std::string level;            ///< L1, L2, L3, DRAM; "core" for compute
    std::string operation;        ///< load, store, copy, …; fma, fma+add, best, …; chase
    std::string precision;        ///< empty for bandwidth where it does not matter
    std::string isa;
    std::string condition;  ///< "small pages", "siblings", "node 0 from node 1"; empty for the usual one
    int threads = 1;
    int devices = 1;          ///< whose measured rates these are the sum of
    Rate rate;                ///< FLOP/s, byte/s or lines/s, by kind; `unit()` says which
    Bytes working_set_low{};  ///< the plateau's extent; compute has none
    Bytes working_set_high{};
    Bytes working_set{};  ///< at which this rate was held
    std::string variant;  ///< what the probe's own search settled on
    Estimate<Hertz>
        clock{};  ///< at which the cores ran, or for what goes with the clock, sustained; empty if not known
    /// FLOPs, bytes or lines per clock of one thread, each sample over the clock beside it; empty if that is not known.
    Estimate<Quantity<0, 0, 0>> per_clock{};
    Steadiness steadiness = Steadiness::steady;  ///< by the interval of `rate` (steadiness.hpp)
    std::vector<Mode> modes{};                   ///< of all rounds, slowest first
    int rounds = 1;                              ///< that count
    bool disturbed = false;  ///< hardly a sample of any round was undisturbed: the rate may be higher than it
    /// As `rate`: what half of all samples reached, disturbed ones among them; 0 if that is not known.
    double typical = 0;
    std::string point;  ///< the row it comes from, without its round: "bench device axis=value …"

    std::string_view unit() const
    {
        return kind == Role::bandwidth ? "B/s" : kind == Role::latency ? "lines/s" : "FLOP/s";
    }
    /// The typical rate over the ceiling, at most 1; 1 if that is not known.
    double typical_share() const
    {
        return typical > 0 && typical < rate.median.value ? typical / rate.median.value : 1;
    }
    /// Of a latency.
    Seconds per_access() const { return {rate.median.value > 0 ? 1 / rate.median.value : 0}; }
};

/// Whether each thread on a core of its own finds an instance of the level of its own; `unclear` where only one thread
/// count was measured, the sizes found fit neither, or the machine reports the opposite.
enum class Sharing { unclear, per_core, shared };

std::string_view name(Sharing sharing);

/// A memory level as the sweep shows it: a plateau of bandwidth over working sets, beside the size reported for it.
struct MeasuredLevel {
    std::string device;
    std::string name;
    Bytes from;                  ///< smallest working set on the plateau
    Bytes to;                    ///< largest working set on the plateau: the capacity as measured, per thread count
    Bytes reported;              ///< total capacity the machine reports for that many threads; 0 if none
    bool contradiction = false;  ///< the two differ by more than a factor of two
    int threads = 1;
    Bytes
        beyond{};  ///< smallest working set that fell off the plateau: the edge lies between `to` and this; 0 for memory
    Sharing sharing = Sharing::unclear;
    bool confirmed = true;         ///< every sweep shows it that could
    std::vector<int> seen_with{};  ///< thread counts whose sweeps show it, its own among them
};

struct Ceilings {
    std::vector<Ceiling> all;
    /// Of each device, as found on its load sweep with the most threads, fastest first.
    std::vector<MeasuredLevel> levels;
    /// The same for every thread count that has a load sweep.
    std::vector<MeasuredLevel> levels_by_threads{};
    /// Plateaus that not every sweep shows that could (confirmation.hpp): they have no ceilings, and are no levels. Named by
    /// the level they follow, "after L3".
    std::vector<MeasuredLevel> unconfirmed{};

    /// The roof of a memory level for a device and thread count: its best operation. Null if there is none.
    const Ceiling* bandwidth(const std::string& device, const std::string& level, int threads) const;
    /// The highest compute ceiling of a precision, whatever mix of instructions reached it. Null if there is none.
    const Ceiling* compute(const std::string& device, const std::string& precision, int threads) const;
    /// The roof over multiply-adds, which convolutions and matrix products are made of: the best ISA of `fma`, `dot` or `tile`,
    /// else of `mul+add`, else compute(). A mix that needs further independent additions (`fma+add`) is no roof for them.
    const Ceiling* multiply_add(const std::string& device, const std::string& precision, int threads) const;
    /// Levels of every thread count and what is unconfirmed, each where its sizes belong.
    std::vector<MeasuredLevel> plateaus() const;
    /// The most threads any ceiling of the device was measured with; 0 if none.
    int most_threads(const std::string& device) const;
};

/// Finds the plateaus of the working-set sweeps and the best rates; a pure function of the rows. Rows that are not ok are
/// passed over. Levels are found without the reported sizes, which are only set beside them.
Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine);

/// The same for one who has `points`, which are summarize_points(rows): those are most of the work.
Ceilings fit_ceilings(std::span<const Measurement> rows, const std::vector<PointSummary>& points,
                      const Machine& machine);

}  // namespace roof
