// Reads published numbers; assess.cpp compares them with the estimate.
#include "analysis/estimate/published.hpp"

#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace roof::analysis {
namespace {

using Units = std::map<std::string, double>;

const Units bytes{{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
const Units seconds{{"s", 1}, {"ms", 1e-3}};
const Units operations{{"FLOP", 1}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}};

/// The legal units of each quantity, with their factor to the SI unit.
const std::map<std::string, Units>& units_of_quantities()
{
    static const std::map<std::string, Units> table{
        {"intensity", {{"FLOP/B", 1}}},
        {"flop_rate", {{"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}}},
        {"flops", operations},
        {"flops_per_image", operations},
        {"memory", bytes},
        {"activations", bytes},
        {"time", seconds},
        {"epoch", seconds},
        {"image", bytes},
        {"window", {{"pixels", 1}}},
        {"fits", {{"", 1}}},
        {"share", {{"%", 0.01}}},
    };
    return table;
}

template <class Map>
std::vector<std::string> keys(const Map& map)
{
    std::vector<std::string> names;
    for (const auto& [key, value] : map) names.push_back(key);
    return names;
}

/// Reads one row; an empty cell keeps the default.
class RowReader {
  public:
    RowReader(const CsvTable& table, std::size_t row, const std::string& name)
        : table_(table), row_(table.rows[row]), where_(fmt::format("{}:{}", name, row + 2))
    {
    }

    PublishedNumber read() const
    {
        PublishedNumber number_read;
        number_read.where = where_;
        number_read.study = cell("study");
        number_read.of = request();
        number_read.machine = cell("machine");
        number_read.layer = cell("layer");
        number_read.quantity = cell("quantity");
        number_read.value = number_in_cell(cell("value"), where_);
        number_read.unit = cell("unit");
        number_read.si = number_read.value * factor(number_read.quantity, number_read.unit);
        number_read.how = cell("how");
        number_read.source = cell("source");
        number_read.note = cell("note");
        return number_read;
    }

  private:
    template <class Number>
    Number whole(const char* column) const
    {
        const std::optional<Number> value = parse_number<Number>(cell(column));
        if (!value || *value < 1)
            throw InputError(
                fmt::format("{}: {} '{}' is no whole number above 0", where_, column, printable(cell(column))));
        return *value;
    }

    EstimateRequest request() const
    {
        EstimateRequest request;
        request.model = cell("model");
        if (!cell("batch").empty()) request.batch = whole<int>("batch");
        if (!cell("precision").empty()) request.precision = parse_precision(cell("precision"));
        if (!cell("phase").empty()) request.passes = parse_passes(cell("phase"));
        if (!cell("devices").empty()) request.devices = whole<int>("devices");
        if (!cell("images").empty()) request.images = whole<long long>("images");
        return request;
    }

    double factor(const std::string& quantity, const std::string& unit) const
    {
        const auto& table = units_of_quantities();
        const auto units = table.find(quantity);
        if (units == table.end())
            throw InputError(where_ + ": " + unknown_word("published quantity", quantity, keys(table)));
        const auto found = units->second.find(unit);
        if (found == units->second.end())
            throw InputError(where_ + ": " + unknown_word("unit of " + quantity, unit, keys(units->second)));
        return found->second;
    }

    const std::string& cell(const char* column) const { return row_[table_.column(column)]; }

    const CsvTable& table_;
    const std::vector<std::string>& row_;
    std::string where_;
};

}  // namespace

std::vector<PublishedNumber> parse_published(std::string_view text, const std::string& name)
{
    const CsvTable table = parse_csv(std::string(text), name);
    std::vector<PublishedNumber> numbers;
    for (std::size_t row = 0; row < table.rows.size(); ++row) numbers.push_back(RowReader(table, row, name).read());
    return numbers;
}

}  // namespace roof::analysis
