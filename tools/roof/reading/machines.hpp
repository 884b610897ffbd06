// The machines for estimates: the built-in spec sheets and the calibrations among the results.
#pragma once

#include "analysis/estimate/target.hpp"
#include "tools/roof/console/context.hpp"

#include <string>
#include <vector>

namespace roof {

/// The built-in sheets, sorted by name.
std::vector<analysis::MachineSheet> built_in_sheets();

/// The targets named by a value of --on: `here`, this machine; a results folder with a calibration; or the name of a
/// sheet. If a device has both, the measured target comes first. Throws InputError that lists the sheets.
std::vector<analysis::Target> find_targets(const std::string& word, const Context& context);

}  // namespace roof
