// Numbers and names as JSON can hold them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace roof::analysis {

/// null for infinities and NaN.
nlohmann::json json_number(double value);
/// `value` with every byte sequence that is not UTF-8 replaced: names come from files.
std::string json_text(const std::string& value);

}  // namespace roof::analysis
