// Converts numbers and names to valid JSON values.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace roof::analysis {

/// null for infinities and NaN.
nlohmann::json json_number(double value);
/// `value` with invalid UTF-8 replaced, because names come from files.
std::string json_text(const std::string& value);

}  // namespace roof::analysis
