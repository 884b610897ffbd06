// The HTML of the report. All text goes through escape(): names come from files, and no name may become markup.
#pragma once

#include "analysis/table/table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// For text and for quoted attributes; control characters become '?'.
std::string escape(std::string_view text);

/// What the page shows of the table: its note and its rows. Empty if it has no rows for people.
std::string html_table(const DataTable& table);

/// <p class="…">, of text.
std::string paragraph(std::string_view text, std::string_view css_class = "");
/// <h4>, of text.
std::string subheading(std::string_view text);
/// <figure> with its caption and an SVG that scrolls.
std::string figure(std::string_view caption, const std::string& svg);
/// A list of texts under a subheading; empty if there are none.
std::string text_list(std::string_view heading, const std::vector<std::string>& texts);

}  // namespace roof::analysis
