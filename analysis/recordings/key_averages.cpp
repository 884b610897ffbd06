// PyTorch's table of operators: key_averages().table(), printed into a file. Groups of dashes mark the columns. The time of an
// operator excludes the operators that it calls, so that the times add up.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {
namespace {

bool is_ruler(std::string_view line)
{
    return line.starts_with("---") && line.find_first_not_of("- \r") == line.npos;
}

/// Where each group of dashes begins.
std::vector<std::size_t> columns_of(std::string_view ruler)
{
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < ruler.size(); ++at)
        if (ruler[at] == '-' && (at == 0 || ruler[at - 1] == ' ')) begins.push_back(at);
    return begins;
}

using Row = std::map<std::string, std::string, std::less<>>;

class Table {
  public:
    Table(const std::string& text, std::string name) : name_(std::move(name))
    {
        const std::vector<std::string> lines = split(text, '\n');
        std::size_t at = 0;
        while (at < lines.size() && !is_ruler(lines[at])) ++at;
        if (at + 2 >= lines.size() || !is_ruler(lines[at + 2])) throw InputError(name_ + ": the table has no heading");
        begins_ = columns_of(lines[at]);
        heading_ = cells_of(lines[at + 1]);
        const auto is_row = [&] { return !is_ruler(lines[line_]) && !trim(lines[line_]).empty(); };
        for (line_ = at + 3; line_ < lines.size() && is_row(); ++line_) add(cells_of(lines[line_]));
        if (line_ == lines.size() || !is_ruler(lines[line_])) throw InputError(name_ + ": the table is cut off");
        for (; line_ < lines.size(); ++line_) {
            const std::string mark = "Self CPU time total: ";
            if (lines[line_].starts_with(mark)) total = seconds_in(std::string(trim(lines[line_].substr(mark.size()))));
        }
        if (total.value <= 0) throw InputError(name_ + ": the table does not end in 'Self CPU time total: …'");
    }

    std::vector<Row> rows;
    Seconds total;

    Seconds seconds_in(const std::string& text) const
    {
        const std::size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
        const auto value = parse_number<double>(text.substr(0, unit));
        static const std::map<std::string, double, std::less<>> units{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
        const auto known = units.find(text.substr(unit));
        if (value && known != units.end()) return Seconds{*value * known->second};
        throw InputError(fmt::format("{}: line {}: '{}' is not a time", name_, line_ + 1, printable(text)));
    }

    bool has(std::string_view column) const { return std::ranges::find(heading_, column) != heading_.end(); }

  private:
    std::vector<std::string> cells_of(const std::string& line) const
    {
        std::vector<std::string> cells;
        for (std::size_t k = 0; k < begins_.size(); ++k) {
            const std::size_t end = k + 1 < begins_.size() ? begins_[k + 1] : line.size();
            cells.emplace_back(begins_[k] < line.size()
                                   ? trim(std::string_view(line).substr(begins_[k], end - begins_[k]))
                                   : std::string_view{});
        }
        return cells;
    }

    void add(const std::vector<std::string>& cells)
    {
        Row row;
        for (std::size_t k = 0; k < cells.size(); ++k) row[heading_[k]] = cells[k];
        for (const char* const needed : {"Name", "Self CPU", "# of Calls"}) {
            if (row[needed].empty())
                throw InputError(fmt::format("{}: line {}: its cell '{}' is empty", name_, line_ + 1, needed));
        }
        rows.push_back(std::move(row));
    }

    std::string name_;
    std::vector<std::size_t> begins_;
    std::vector<std::string> heading_;
    std::size_t line_ = 0;
};

/// PyTorch's prefixes of FLOPs: "Total KFLOPs" to "Total PFLOPs".
std::pair<std::string, double> flops_column(const Table& table)
{
    double factor = 1;
    for (const char* const prefix : {"", "K", "M", "G", "T", "P"}) {
        std::string column = fmt::format("Total {}FLOPs", prefix);
        if (table.has(column)) return {std::move(column), factor};
        factor *= 1000;
    }
    return {"", 1};
}

Phase phase_of(std::string_view name)
{
    if (name.starts_with("Optimizer.")) return Phase::update;
    const bool back = name.find("Backward") != name.npos || name.find("backward") != name.npos;
    return back || name.starts_with("autograd::") ? Phase::backward : Phase::forward;
}

}  // namespace

bool is_key_averages(std::string_view text)
{
    return text.find("Self CPU %") != text.npos && text.find("# of Calls") != text.npos;
}

Imported read_key_averages(const std::string& text, const std::string& name, const std::string& row_name)
{
    const Table table(text, name);
    Imported imported{"PyTorch's table of operators", {}, {}, {}, {}};
    ImportedRow row = imported_row(row_name, "cpu");
    Measurement& of = row.measurement;
    double steps = 1;
    for (const Row& line : table.rows) {
        if (!line.at("Name").starts_with("ProfilerStep")) continue;
        steps = std::max(1.0, parse_number<double>(line.at("# of Calls")).value_or(1));
    }
    const auto [column, factor] = flops_column(table);
    for (const Row& line : table.rows) {
        if (line.at("Name").starts_with("ProfilerStep")) continue;
        PartMeasurement part;
        const auto shapes = line.find("Input Shapes");
        part.part.kind = line.at("Name");
        part.part.layer = part.part.kind + (shapes == line.end() ? "" : " " + shapes->second);
        part.part.phase = phase_of(part.part.kind);
        part.seconds = Estimate<Seconds>::of(std::vector{table.seconds_in(line.at("Self CPU")).value / steps});
        const auto flops = column.empty() ? std::nullopt : parse_number<double>(line.at(column));
        if (flops) part.part.work.flops = Flops{*flops * factor / steps};
        of.work.flops += part.part.work.flops;
        of.parts.push_back(std::move(part));
    }
    of.seconds = Estimate<Seconds>::of(std::vector{table.total.value / steps});
    if (column.empty()) imported.missing.push_back("FLOPs: profile with with_flops=True");
    imported.missing.push_back("bytes: the table has none");
    imported.remarks.push_back(
        "FLOPs are PyTorch's, which has none for the gradients of convolutions; an operator's time is its own");
    imported.rows.push_back(std::move(row));
    return imported;
}

}  // namespace roof::analysis
