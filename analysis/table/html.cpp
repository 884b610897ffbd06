#include "analysis/table/html.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {
namespace {

std::string content_of(const Cell& cell)
{
    const std::string content = cell.html.empty() ? escape(cell.text) : cell.html;
    return cell.is_warning ? "<span class=\"warn\">" + content + "</span>" : content;
}

}  // namespace

std::string with_replaced(std::string_view text, const std::map<char, std::string_view>& letters)
{
    std::string safe;
    for (const char letter : text) {
        const auto found = letters.find(letter);
        safe += found == letters.end() ? std::string_view(&letter, 1) : found->second;
    }
    return safe;
}

std::string escape(std::string_view text)
{
    static const std::map<char, std::string_view> entities{
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    return with_replaced(printable(text), entities);
}

std::string html_table(const DataTable& all)
{
    const DataTable table = visible_in(Shown::page, all);
    if (table.rows.empty() || table.columns.empty()) return {};
    const auto is_number = [](const Cell& cell) { return cell.is_number && !cell.is_warning; };
    std::string html = table.note.empty() ? "" : paragraph(table.note);
    html += "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const bool number = std::ranges::any_of(table.rows, [&](const DataTable::Row& row) {
            const auto spanning = std::ranges::find_if(row.cells, &Cell::spans_rest) - row.cells.begin();
            return static_cast<std::ptrdiff_t>(i) < spanning && is_number(row.cells[i]);
        });
        html +=
            fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "", escape(table.columns[i].title));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const DataTable::Row& row : table.rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const Cell& cell = row.cells[i];
            const std::size_t span = cell.spans_rest ? row.cells.size() - i : 1;
            html += fmt::format("<td{}{}>{}</td>", is_number(cell) ? " class=\"n\"" : "",
                                span > 1 ? fmt::format(" colspan=\"{}\"", span) : "", content_of(cell));
            if (cell.spans_rest) break;
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string paragraph(std::string_view text, std::string_view css_class)
{
    return css_class.empty() ? fmt::format("<p>{}</p>\n", escape(text))
                             : fmt::format("<p class=\"{}\">{}</p>\n", escape(css_class), escape(text));
}

std::string html_section(std::string_view id, std::string_view heading, std::string_view sentence,
                         const std::string& body)
{
    if (body.empty()) return {};
    return fmt::format("<section{}>\n<h2>{}</h2>\n{}{}</section>\n", id.empty() ? "" : fmt::format(" id=\"{}\"", id),
                       escape(heading), paragraph(sentence, "lead"), body);
}

std::string subheading(std::string_view text)
{
    return fmt::format("<h3 class=\"part\">{}</h3>\n", escape(text));
}

std::string figure(std::string_view caption, const std::string& svg)
{
    const std::string scrolling = fmt::format("<div class=\"scroll\">{}</div>", svg);
    return caption.empty()
               ? scrolling
               : fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escape(caption), scrolling);
}

std::string text_list(std::string_view heading, const std::vector<std::string>& texts)
{
    if (texts.empty()) return {};
    std::string html = heading.empty() ? "" : subheading(heading);
    html += "<ul>\n";
    for (const std::string& text : texts) html += fmt::format("<li>{}</li>\n", escape(text));
    return html + "</ul>\n";
}

}  // namespace roof::analysis
