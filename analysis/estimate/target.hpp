// The machine of an estimate: measured ceilings, or the peaks and bandwidths of a spec sheet (configs/machines),
// published by the vendor, with sources, in the same form. Known: measured or spec.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/work.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// A link between devices, in one direction.
struct Link {
    std::string name;    ///< nvlink, pcie
    Seconds latency;     ///< time of one message: alpha of the alpha-beta model
    ByteRate bandwidth;  ///< beta of the alpha-beta model
};

struct SheetLevel {
    std::string name;  ///< L2, DRAM
    ByteRate bandwidth;
    Bytes capacity;
};

struct MachineSheet {
    std::string name{};                     ///< "v100-sxm2", as --on takes it
    std::string title{};                    ///< the vendor's name
    std::string kind{};                     ///< "cpu" or "gpu"
    std::vector<std::string> also{};        ///< other names: "v100"
    std::vector<std::string> models{};      ///< device names that a driver reports
    std::map<Precision, FlopRate> peaks{};  ///< rates of matrix products, without sparsity
    std::vector<SheetLevel> levels{};       ///< nearest to the core first; the last is memory
    std::vector<Link> links{};
    std::vector<std::string> sources{};

    Bytes memory() const { return levels.back().capacity; }
    bool is_called(const std::string& word) const { return word == name || is_in(word, also); }
    bool describes(const std::string& model) const { return is_in(model, models); }
};

/// Reads a sheet's YAML; messages contain `name`. Throws InputError with file, line, key and the legal values.
MachineSheet parse_sheet(const std::string& text, const std::string& name);

struct Target {
    std::string name{};         ///< as the user wrote it; plus ":" and the device if a calibration has several
    std::string title{};        ///< the device's model
    Known known = Known::spec;  ///< how the rates are known: measured or spec
    std::string device{};       ///< the device of the ceilings
    Machine machine{};
    Ceilings ceilings{};
    std::string quality{};  ///< of the ceilings, as a sentence (calibration_quality); empty for a sheet
    Bytes memory{};         ///< 0 if unknown
    std::vector<Link> links{};

    /// The link of this name. Throws InputError with the known names if there is none.
    const Link& link(const std::string& link_name) const;
};

/// The sheet as a target. Its figures become ceilings without intervals.
Target target_of(const MachineSheet& sheet);

/// One target for each device with bandwidth and compute ceilings. Throws InputError if there is none.
std::vector<Target> targets_of(const Results& calibration, const std::string& name);

}  // namespace roof::analysis
