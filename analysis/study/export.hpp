// Ceilings and points in the forms of other tools. Rates are the medians of the roofs at the most threads.
#pragma once

#include "analysis/study/study.hpp"

#include <string>
#include <string_view>

namespace roof::analysis {

/// The text of a format for one device:
///   csv     every ceiling with its interval, in SI units
///   points  every placed step, phase and layer, at every memory level, in SI units
///   ert     roofline.json of the Empirical Roofline Tool 1.1.0: gbytes and gflops by name, 1e9 per second
///   likwid  tables in the style of likwid-perfctr, in its units: MByte/s and MFLOP/s, 1e6 per second
///   carm    <machine>_roofline.csv of the CARM tool (champ-hub/carm-roofline): a row for fp64 and one for fp32, from loads
///           alone and multiply-adds. Its sizes are in KiB; it writes 0 for a level that the machine lacks.
/// Throws InputError for an unknown format or device, and without the ceilings that
/// the format needs.
std::string exported(const Study& study, std::string_view format, const std::string& device);

}  // namespace roof::analysis
