#include "analysis/roofline/ceiling_tables.hpp"
#include "analysis/roofline/promises.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::analysis {

namespace {

/// Characters of UTF-8: every byte but those that continue one.
std::size_t width_of(const std::string& text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::vector<std::size_t> widths_of(const TextTable& table)
{
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        widths.push_back(width_of(table.columns[i].name));
        for (const std::vector<std::string>& row : table.rows) widths[i] = std::max(widths[i], width_of(row[i]));
    }
    return widths;
}

std::string text_of(const TextTable& table)
{
    const std::vector<std::size_t> widths = widths_of(table);
    const auto line_of = [&](const auto& cell_at) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string& cell = cell_at(i);
            const std::string space(widths[i] - width_of(cell), ' ');
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
    if (other == 0) return "All of these ceilings are steady: repeated visits found one rate.\n";
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

std::string ceilings_table(const Ceilings& ceilings, const Machine& machine)
{
    const std::string doubts = list_of("Doubts about what the machine reports", machine.doubts);
    if (ceilings.all.empty()) return "No ceilings were measured.\n" + doubts;
    std::string text;
    for (const TextTable& table : ceiling_tables(ceilings, machine)) text += text_of(table);
    return text + printable(promise_footnote(ceilings, machine)) + "\n" + not_steady(ceilings) +
           list_of("Above what the core can do", impossible_ceilings(ceilings, machine)) + doubts;
}

}  // namespace roof::analysis
