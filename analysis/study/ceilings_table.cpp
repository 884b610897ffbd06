#include "analysis/roofline/spec_check.hpp"
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace roof::analysis {

namespace {

/// Columns that a narrow window does without, the first of them first.
constexpr std::array<std::string_view, 8> expendable{"found by search", "GHz",        "clock, widest", "clock, scalar",
                                                     "B/clock",         "FLOP/clock", "instances",     "but not"};

std::vector<std::size_t> widths_of(const TextTable& table)
{
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        widths.push_back(display_columns(table.columns[i].name));
        for (const std::vector<std::string>& row : table.rows) widths[i] = std::max(widths[i], display_columns(row[i]));
    }
    return widths;
}

std::size_t width_of(const TextTable& table)
{
    std::size_t width = 0;
    for (const std::size_t column : widths_of(table)) width += column + 2;
    return width - 2;
}

void leave_out(std::string_view name, TextTable& table)
{
    const auto found = std::ranges::find(table.columns, name, &TextTable::Column::name);
    if (found == table.columns.end()) return;
    const auto at = found - table.columns.begin();
    table.columns.erase(found);
    for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + at);
}

TextTable narrowed(TextTable table, int columns)
{
    for (const std::string_view name : expendable) {
        if (columns <= 0 || width_of(table) <= static_cast<std::size_t>(columns)) break;
        leave_out(name, table);
    }
    return table;
}

std::string text_of(const TextTable& table)
{
    const std::vector<std::size_t> widths = widths_of(table);
    const auto line_of = [&](const auto& cell_at) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string& cell = cell_at(i);
            const std::string space(widths[i] - display_columns(cell), ' ');
            line += (table.columns[i].number ? space + cell : cell + space) + "  ";
        }
        return line.erase(line.find_last_not_of(' ') + 1) + '\n';
    };
    std::string text = table.title + '\n';
    text += line_of([&](std::size_t i) -> const std::string& { return table.columns[i].name; });
    for (const std::vector<std::string>& row : table.rows)
        text += line_of([&](std::size_t i) -> const std::string& { return row[i]; });
    return text + '\n';
}

std::string not_steady(const Ceilings& ceilings)
{
    const auto other = std::ranges::count_if(
        ceilings.all, [](const Ceiling& ceiling) { return ceiling.steadiness != Steadiness::steady; });
    if (other == 0) return "All of these ceilings are steady: repeated rounds found one rate.\n";
    return std::to_string(other) + " of " + std::to_string(ceilings.all.size()) +
           " ceilings are not steady: see their verdicts.\n";
}

std::string list_of(const std::string& heading, const std::vector<std::string>& sentences)
{
    std::string text;
    for (const std::string& sentence : sentences) text += "  " + printable(sentence) + "\n";
    return text.empty() ? text : heading + "\n" + text;
}

}  // namespace

std::string ceilings_table(const Ceilings& ceilings, const Machine& machine, int columns)
{
    std::string text;
    for (const TextTable& table : ceiling_tables(ceilings, machine)) text += text_of(narrowed(table, columns));
    text += ceilings.all.empty() ? "No ceilings were measured.\n"
                                 : printable(spec_footnote(ceilings, machine)) + "\n" + not_steady(ceilings) +
                                       list_of("Above what the core can do", impossible_ceilings(ceilings, machine));
    std::vector<std::string> inconsistencies = machine.inconsistencies;
    if (std::string moved = moved_processors(ceilings); !moved.empty()) inconsistencies.push_back(std::move(moved));
    return fitted_lines(text + list_of("Doubts about what the machine reports", inconsistencies), columns);
}

}  // namespace roof::analysis
