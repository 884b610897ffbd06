// The report page's script, and its data as one JSON block. Numbers are exact and in SI units. Points are stored as
// columns to keep the page small.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>

namespace roof::analysis {

/// {"studies": [{"name",
///   "roofs": [{"device", "owner", "threads", "levels": [roof], "compute": [roof], "mixes": [roof]}],
///       one for each device and thread count,
///   "figures": [{"roofline": figure, "time": figure}], one for each of "roofs", as to_json(Figure) writes them. A mark's key
///       is the study's number, a colon, and the point's number,
///   "rows": [{"id", "title", "model", "batch", "precision", "device", "data", "threads", "seconds", "images", "memory",
///       "sentence", "frame", "level_frame": [intensity, intensity, rate, rate] or null, "roofs"}],
///   "scopes", "phases", "names", "kinds": texts that the points index,
///   "points": {"row", "scope", "name", …: a column each; "text" explains it, "cells" are its texts in the table of layers}}],
///  "trajectories": [figure]}
/// A roof: {"name" or "precision", "operation", "isa", "n", "median", "low", "high", "spec" or null}.
nlohmann::json page_json(std::span<const Study> studies);

/// The document as the text of a script element. No content can end the element early.
std::string script_text(const nlohmann::json& document);

/// The script, joined from the folder `page` at build time.
std::string_view page_script();
/// SHA-256 of the script in base64, for the page's content security policy.
std::string_view page_script_hash();

}  // namespace roof::analysis
