// The report page's script, and its data as one JSON block. Numbers are exact and in SI units. Points are stored as
// columns to keep the page small.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>

namespace roof::analysis {

/// {"studies": [{"name", "cpu_model", "known",
///   "roofs": [{"device", "threads", "levels": [roof], "compute": [roof], "mixes": [roof]}],
///       one for each device and thread count,
///   "rows": [{"id", "model", "batch", "precision", "device", "data", "threads", "seconds", "images", "memory",
///       "sentence", "roofs"}],
///   "scopes", "phases", "bounds", "names", "kinds", "notes", "roofNames": texts that the points index,
///   "points": {"row", "scope", "name", …: a column each}}]}
/// A roof: {"name" or "precision", "operation", "isa", "n", "median", "low", "high", "spec" or null}.
nlohmann::json page_json(std::span<const Study> studies);

/// The document as the text of a script element. No content can end the element early.
std::string script_text(const nlohmann::json& document);

/// The script, bundled from the folder `page` at build time; empty if the build had no npm or no network. The page is then
/// static.
std::string_view page_script();
/// SHA-256 of the script in base64, for the page's content security policy. Empty if the script is empty.
std::string_view page_script_hash();

}  // namespace roof::analysis
