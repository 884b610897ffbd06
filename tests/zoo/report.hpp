// The zoo's results as text, and one machine with its calibration.
#pragma once

#include "tests/zoo/tally.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace roof::zoo {

/// A table of each kind and group, then the figures of "Done when". `all_findings`: those that pass as well.
std::string report_text(const std::vector<Tally>& tallies, bool all_findings);
nlohmann::json report_json(const std::vector<Tally>& tallies);
/// The tallies of several such reports, added up by kind: pieces of a run, each with a seed of its own. A kind that is
/// no more is left out.
std::vector<Tally> joined(const std::vector<nlohmann::json>& reports);

/// The machine as it was drawn, and its calibration beside it.
std::string show_text(const Calibration& calibration, const Verdict& verdict);

}  // namespace roof::zoo
