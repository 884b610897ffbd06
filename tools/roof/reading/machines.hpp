// The machines an estimate can be made for: the built-in spec sheets and the calibrations among the results.
#pragma once

#include "analysis/estimate/target.hpp"
#include "tools/roof/console/context.hpp"

#include <string>
#include <vector>

namespace roof {

/// Sorted by name.
std::vector<analysis::MachineSheet> built_in_sheets();

/// The machines that a value of --on names: `here`, this machine; a folder of results with a calibration; or the name of a sheet. For a
/// device with both, the measured one comes first. Throws InputError that lists the sheets.
std::vector<analysis::Target> find_targets(const std::string& word, const Context& context);

/// Every sheet under each of its names.
std::vector<analysis::Target> sheet_targets();

/// The devices of a calibration: named `here`, or `here:gpu:0` and so on where there are several. None without ceilings.
std::vector<analysis::Target> targets_here(const Results& calibration);

/// All sheets, and this machine if it has a calibration.
std::vector<analysis::Target> all_targets(const Context& context);

}  // namespace roof
