#include "analysis/table/json_values.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace roof::analysis {

using nlohmann::json;

json json_number(double value)
{
    return std::isfinite(value) ? json(value) : json(nullptr);
}

std::string json_text(const std::string& value)
{
    const std::string quoted = json(value).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

}  // namespace roof::analysis
