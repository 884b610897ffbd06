// The little HTML the report needs. All text goes through escape(): names come from files, and no name may become markup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// For text and for quoted attributes; control characters become '?'.
std::string escape(std::string_view text);

/// A table cell: its content as HTML, whether it lines up to the right, and the columns it spans.
struct Cell {
    std::string html;
    bool number = false;
    int span = 1;

    static Cell text(std::string_view text) { return {escape(text), false, 1}; }
    static Cell value(std::string_view text) { return {escape(text), true, 1}; }
};

/// Header cells are text; the cells of each row span as many columns as it has.
std::string html_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows);

/// <p class="…">, of text.
std::string paragraph(std::string_view text, std::string_view css_class = "");
/// A list of texts under a small heading; nothing if there are none.
std::string text_list(std::string_view heading, const std::vector<std::string>& texts);

}  // namespace roof::analysis
