// The machines an estimate can be made for: the spec sheets in this binary, and the calibrations among the results.
#pragma once

#include "analysis/estimate/target.hpp"
#include "tools/roof/console/context.hpp"

#include <string>
#include <vector>

namespace roof {

/// In order of their names.
std::vector<analysis::MachineSheet> built_in_sheets();

/// What a word after --on stands for: `here`, this machine; a folder of results that holds a calibration; or a sheet's name.
/// Where a device has both a calibration and a sheet both come, measured first. Throws InputError naming the sheets there are.
std::vector<analysis::Target> find_targets(const std::string& word, const Context& context);

/// Every sheet under each of its names.
std::vector<analysis::Target> sheet_targets();

/// The machine of a calibration as `here`; its devices as `here:gpu:0` and so on where there are several. None without ceilings.
std::vector<analysis::Target> targets_here(const Results& calibration);

/// The sheets; and this machine, if it has a calibration.
std::vector<analysis::Target> all_targets(const Context& context);

}  // namespace roof
