// The data of the report page as one JSON block, from which its script draws. Numbers are SI and exact; points are columns, so
// that thousands of them stay small. What the script reads is written here and nowhere else.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace roof::analysis {

/// {"studies": [{"name", "cpu_model", "known", "frame": {"intensity", "rate"} or null,
///   "roofs": [{"device", "threads", "levels": [roof], "compute": [roof], "mixes": [roof]}], one for each device and thread count of the rows,
///   "rows": [{"id", "model", "batch", "precision", "device", "data", "threads", "seconds", "images", "memory", "roofs"}],
///   "scopes", "phases", "bounds", "names", "kinds", "notes", "roofNames": words that the points' columns index,
///   "points": {"row", "scope", "name", …: a column each}}]}
/// A roof: {"name" or "precision", "operation", "isa", "n", "median", "low", "high", "spec" or null}.
nlohmann::json page_json(std::span<const Study> studies);

/// The text of a script element that holds the document: no sequence in it can end the element or a line of script.
std::string script_text(const nlohmann::json& document);

}  // namespace roof::analysis
