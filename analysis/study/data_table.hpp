// A table for other programs: what a panel of the report shows, as numbers in SI units; each column's name carries its unit.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof::analysis {

/// A text, a number, a truth, or null where there is no such number: never a zero.
using Value = nlohmann::json;

struct DataTable {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;  ///< each as many cells as there are columns
};

/// null for infinities and NaN.
Value number(double value);
Value number_if(bool is_known, double value);
/// Names come from files: what is no UTF-8 is replaced.
Value text(std::string_view value);

/// Numbers read back bit for bit; null is an empty cell.
std::string to_csv(const DataTable& table);
/// [{column: value, …}, …]
nlohmann::json to_json(const DataTable& table);

template <class Row>
struct DataColumn {
    const char* name;
    Value (*read)(const Row&);
};

template <class Row>
DataTable table_of(const std::vector<DataColumn<Row>>& columns, const std::vector<Row>& rows)
{
    DataTable table;
    for (const auto& column : columns) table.columns.emplace_back(column.name);
    for (const Row& row : rows) {
        table.rows.emplace_back();
        for (const auto& column : columns) table.rows.back().push_back(column.read(row));
    }
    return table;
}

}  // namespace roof::analysis
