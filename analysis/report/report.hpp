// The report: one HTML file that needs no network, follows the reader's light or dark theme, and prints.
#pragma once

#include "analysis/study/study.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof::analysis {

/// A pure function of the studies: the same files give the same bytes.
std::string report_html(const std::vector<Study>& studies);

/// Throws InputError if `html` cannot be written; an older file there is then left as it was.
void write_report(const std::vector<Study>& studies, const std::filesystem::path& html);

}  // namespace roof::analysis
