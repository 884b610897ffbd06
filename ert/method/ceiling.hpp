// A ceiling: a measured rate of a memory level or of a precision. The roofline of a device is the set of its ceilings.
#pragma once

#include "ert/method/measurement.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof {

struct Ceiling {
    std::string device;
    Role kind = Role::bandwidth;  ///< bandwidth or compute
    std::string level;            ///< L1, L2, L3, DRAM; "core" for compute
    std::string operation;        ///< load, store, copy, triad; fma, mul+add, add, …
    std::string precision;        ///< empty for bandwidth where it does not matter
    std::string isa;
    int threads = 1;
    Estimate<Quantity<0, 0, -1>> rate;  ///< FLOP/s or byte/s, by kind; `unit()` says which
    Bytes working_set_low;              ///< the plateau's extent, bandwidth only
    Bytes working_set_high;

    std::string_view unit() const { return kind == Role::bandwidth ? "B/s" : "FLOP/s"; }
};

/// A memory level as the sweep shows it: a plateau of bandwidth over working sets, beside the size reported for it.
struct MeasuredLevel {
    std::string device;
    std::string name;
    Bytes from;                  ///< smallest working set on the plateau
    Bytes to;                    ///< largest working set on the plateau: the capacity as measured, per thread count
    Bytes reported;              ///< total capacity the machine reports for that many threads; 0 if none
    bool contradiction = false;  ///< the two differ by more than a factor of two
};

struct Ceilings {
    std::vector<Ceiling> all;
    /// Of each device, as found on its load sweep with the most threads, fastest first.
    std::vector<MeasuredLevel> levels;

    /// The roof of a memory level for a device and thread count: its best operation. Null if there is none.
    const Ceiling* bandwidth(const std::string& device, const std::string& level, int threads) const;
    /// The highest compute ceiling of a precision, whatever mix of instructions reached it. Null if there is none.
    const Ceiling* compute(const std::string& device, const std::string& precision, int threads) const;
    /// The roof over multiply-adds, which convolutions and matrix products are made of: the best ISA of `fma`, else of
    /// `mul+add`, else compute(). A mix that needs further independent additions (`fma+add`) is no roof for them.
    const Ceiling* multiply_add(const std::string& device, const std::string& precision, int threads) const;
    /// The most threads any ceiling of the device was measured with; 0 if none.
    int most_threads(const std::string& device) const;
};

/// Finds the plateaus of the working-set sweeps and the best rates; a pure function of the rows. Rows that are not ok are
/// passed over. Levels are found without the reported sizes, which are only set beside them.
Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine);

}  // namespace roof
