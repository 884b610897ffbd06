// The report: one HTML file that needs no network, has a light and a dark theme, and can be printed.
#pragma once

#include "analysis/study/study.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof::analysis {

/// The report of these studies. The same studies give the same bytes.
std::string report_html(const std::vector<Study>& studies);

/// Throws InputError if `html` cannot be written; an existing file then stays unchanged.
void write_report(const std::vector<Study>& studies, const std::filesystem::path& html);

}  // namespace roof::analysis
