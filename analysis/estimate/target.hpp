// The machine an estimate is for: ceilings measured on it, or the peaks of its spec sheet, in one shape, so that one formula
// serves both and only the word for how it is known differs.
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
    std::string name{};         ///< as the user wrote it; with ":" and the device where a calibration has several
    std::string title{};        ///< the device's model
    Known known = Known::spec;  ///< of the rates: measured or spec
    std::string device{};       ///< whose ceilings these are
    Machine machine{};
    Ceilings ceilings{};
    Bytes memory{};  ///< 0 if nobody says
    std::vector<Link> links{};

    /// Throws InputError naming the links there are.
    const Link& link(const std::string& link_name) const;
};

/// A sheet's figures take the place of ceilings; a ceiling of a sheet has no interval.
Target target_of(const MachineSheet& sheet);

/// One for each device with ceilings of bandwidth and of compute. A calibration without any throws InputError.
std::vector<Target> targets_of(const Results& calibration, const std::string& name);

}  // namespace roof::analysis
