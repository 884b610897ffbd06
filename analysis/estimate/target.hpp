// The machine of an estimate: measured ceilings or the peaks of a spec sheet, in the same form.
#pragma once

#include "analysis/estimate/machine_sheet.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/work.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

struct Target {
    std::string name{};         ///< as the user wrote it; plus ":" and the device if a calibration has several
    std::string title{};        ///< the device's model
    Known known = Known::spec;  ///< how the rates are known: measured or spec
    std::string device{};       ///< the device of the ceilings
    Machine machine{};
    Ceilings ceilings{};
    Bytes memory{};  ///< 0 if unknown
    std::vector<Link> links{};

    /// The link of this name. Throws InputError with the known names if there is none.
    const Link& link(const std::string& link_name) const;
};

/// The sheet as a target. Its figures become ceilings without intervals.
Target target_of(const MachineSheet& sheet);

/// One target for each device with bandwidth and compute ceilings. Throws InputError if there is none.
std::vector<Target> targets_of(const Results& calibration, const std::string& name);

}  // namespace roof::analysis
