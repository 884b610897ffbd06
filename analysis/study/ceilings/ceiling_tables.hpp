// The ceilings of a machine as tables, beside spec and data sheets, with remarks.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace roof::analysis {

/// In order: bandwidth and compute of each device, condition and thread count; latencies; the named ceilings; the
/// memory levels. Tables without rows and columns without content are left out.
std::vector<DataTable> ceiling_tables(const Ceilings& ceilings, const Machine& machine);

/// The ceilings that roofline papers draw below the roof: best mix, multiply-add, add only, without FMA, without SIMD.
/// One row for each device, precision and thread count.
DataTable named_ceilings(const Ceilings& ceilings);

/// A sentence if core-to-core transfers were typically half as fast as at best, which means that vCPUs migrate. Empty
/// otherwise.
std::string moved_processors(const Ceilings& ceilings);

std::string spec_footnote(const Ceilings& ceilings, const Machine& machine);

/// All tables and remarks for a terminal, in at most `columns`; 0: unlimited.
std::string ceilings_text(const Ceilings& ceilings, const Machine& machine, int columns = 0);

// Beside the rate per clock that a public guide states for the core (beside_spec.cpp; Known: spec). It is a column
// beside the measured rate: no rate, interval, state or exit status depends on it, and it starts no measurement.

/// The guide's rate for this ceiling; null where it gives none.
const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine);

/// FLOPs or bytes per clock of one core, or of one multiprocessor; 0 if the clock is not known.
double per_clock_and_core(const Ceiling& ceiling, const Machine& machine);

/// The measured rate per clock over the guide's; nothing without a guide's rate or a clock.
std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine);

/// Tolerance for the error of the measured clock.
inline constexpr double max_share_of_spec = 1.005;

/// Whether the ceiling's whole interval is above `max_share_of_spec` of its spec, at the fastest clock of the device
/// too. It is marked, and used like any other.
bool is_above_spec(const Ceiling& ceiling, const Ceilings& ceilings, const Machine& machine);

std::vector<std::string> above_spec(const Ceilings& ceilings, const Machine& machine);

/// "L1 load, 1 thread"; "fp32 fma avx512, 2 threads, siblings".
std::string name_of(const Ceiling& ceiling);

// Beside the data sheet of the device (beside_spec.cpp).

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

// The curves of the Empirical Roofline: the rate of a loop of loads and multiply-adds at each arithmetic intensity
// and working set, and its roofs.

struct Dot {
    double intensity;  ///< FLOP/byte
    Rate rate;         ///< FLOP/s
};

/// Dots by working set in bytes, sorted by intensity.
using Curves = std::map<double, std::vector<Dot>>;
using CurveKey = std::tuple<std::string, std::string, int>;  ///< device, precision, threads

/// The curves of the study's rows and of its calibration's rows.
std::map<CurveKey, Curves> curves_of(const Study& study);

/// The roofs of this loop: load bandwidths, and multiply-adds in its precision.
Roofs roofs_over(const Ceilings& ceilings, const CurveKey& key);

/// Index of the level of `roofs` that holds the working set; between two levels, the farther one.
std::size_t level_of(double bytes, const Roofs& roofs, const Ceilings& ceilings);

/// The rate in FLOP/s that the roofs allow at a level and an intensity; 0 if a roof is missing.
double allowed(const Roofs& roofs, std::size_t level, double intensity);

}  // namespace roof::analysis
