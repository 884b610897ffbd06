// The panels of the report: functions from a study to HTML, in one table.
#pragma once

#include "analysis/study/study.hpp"

#include <span>
#include <string>
#include <string_view>

namespace roof::analysis {

struct Panel {
    std::string_view id;  ///< anchor in the page
    std::string_view heading;
    std::string_view sentence;  ///< what the panel shows and how to read it
    /// The HTML; empty if there is nothing to show. Ids start with `key`, which is unique to study and panel.
    std::string (*render)(const Study& study, const std::string& key);
};

std::span<const Panel> panels();

std::string verdict_panel(const Study& study, const std::string& key);
std::string expectations_panel(const Study& study, const std::string& key);
std::string roofline_panel(const Study& study, const std::string& key);
std::string time_roofline_panel(const Study& study, const std::string& key);
std::string headroom_panel(const Study& study, const std::string& key);
std::string breakdown_panel(const Study& study, const std::string& key);
std::string kernels_panel(const Study& study, const std::string& key);
std::string scaling_panel(const Study& study, const std::string& id);
std::string counted_panel(const Study& study, const std::string& key);
std::string time_breakdown_panel(const Study& study, const std::string& key);
std::string calls_panel(const Study& study, const std::string& key);
std::string copies_panel(const Study& study, const std::string& key);
std::string memory_panel(const Study& study, const std::string& key);
std::string trajectory_panel(const Study& study, const std::string& key);
std::string what_if_panel(const Study& study, const std::string& key);
std::string ceilings_panel(const Study& study, const std::string& key);
std::string bandwidth_curve_panel(const Study& study, const std::string& key);
std::string ert_curve_panel(const Study& study, const std::string& key);
std::string absent_panel(const Study& study, const std::string& key);
std::string provenance_panel(const Study& study, const std::string& key);

}  // namespace roof::analysis
