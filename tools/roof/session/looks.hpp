// The looks that calibrate, run and sweep add to those at the machine's ceilings (ert/method/results/look_file.hpp).
// What cannot be kept is said on standard error; the rows are complete in any case.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "tools/roof/console/context.hpp"
#include "tools/roof/session/session.hpp"

#include <filesystem>

namespace roof {

/// The ceilings of a calibration by all looks, its own included, which is kept. `out`: as in its Job.
Ceilings ceilings_of_looks(const Session& session, const std::filesystem::path& out, const Machine& machine,
                           Context& context);

/// After a run or a sweep that took so long: a round of each roof of a CPU that is not steady yet, those with the
/// fewest looks first, in about the lesser of 0.3 s and 1% of that time, if the last look is ten minutes old. Copies
/// the looks into its folder.
void look_again(const Session& session, Seconds took, const Machine& machine, Context& context);

}  // namespace roof
