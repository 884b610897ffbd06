#include "analysis/table/html.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

std::string escape(std::string_view text)
{
    std::string safe;
    for (const char letter : printable(text)) {
        switch (letter) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\'':
                safe += "&#39;";
                break;
            default:
                safe += letter;
        }
    }
    return safe;
}

std::string html_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows)
{
    std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < header.size(); ++i) {
        const bool number =
            std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return i < row.size() && row[i].number; });
        html += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "", escape(header[i]));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : rows) {
        html += "<tr>";
        for (const Cell& cell : row)
            html += fmt::format("<td{}{}>{}</td>", cell.number ? " class=\"n\"" : "",
                                cell.span > 1 ? fmt::format(" colspan=\"{}\"", cell.span) : "", cell.html);
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string paragraph(std::string_view text, std::string_view css_class)
{
    return css_class.empty() ? fmt::format("<p>{}</p>\n", escape(text))
                             : fmt::format("<p class=\"{}\">{}</p>\n", escape(css_class), escape(text));
}

std::string text_list(std::string_view heading, const std::vector<std::string>& texts)
{
    if (texts.empty()) return {};
    std::string html = heading.empty() ? "" : fmt::format("<h4>{}</h4>\n", escape(heading));
    html += "<ul>\n";
    for (const std::string& text : texts) html += fmt::format("<li>{}</li>\n", escape(text));
    return html + "</ul>\n";
}

}  // namespace roof::analysis
