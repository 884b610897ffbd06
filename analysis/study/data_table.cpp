#include "analysis/study/data_table.hpp"

#include "analysis/table/json_values.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {

namespace {

std::string cell_of(const Value& value)
{
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? format_exact(value.get<double>()) : value.dump();
}

}  // namespace

Value number(double value)
{
    return json_number(value);
}

Value number_if(bool is_known, double value)
{
    return is_known ? number(value) : Value(nullptr);
}

Value text(std::string_view value)
{
    return json_text(std::string(value));
}

std::string to_csv(const DataTable& table)
{
    std::string csv = csv_line(table.columns);
    for (const std::vector<Value>& row : table.rows) {
        std::vector<std::string> cells;
        for (const Value& value : row) cells.push_back(cell_of(value));
        csv += csv_line(cells);
    }
    return csv;
}

nlohmann::json to_json(const DataTable& table)
{
    nlohmann::json list = nlohmann::json::array();
    for (const std::vector<Value>& row : table.rows) {
        nlohmann::json object = nlohmann::json::object();
        for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = row[i];
        list.push_back(std::move(object));
    }
    return list;
}

}  // namespace roof::analysis
