// The HTML of the report. All text goes through escape(), because names come from files and must not become markup.
#pragma once

#include "analysis/table/table.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

std::string with_replaced(std::string_view text, const std::map<char, std::string_view>& letters);

/// Escapes text for elements and quoted attributes; control characters become '?'.
std::string escape(std::string_view text);

/// The note and the rows of the table as the page shows them. Empty if it has no rows or no columns for people.
std::string html_table(const DataTable& table);

/// The text in <p class="…">.
std::string paragraph(std::string_view text, std::string_view css_class = "");
/// A section with a heading and a sentence; empty without a body. An empty id is left out.
std::string html_section(std::string_view id, std::string_view heading, std::string_view sentence,
                         const std::string& body);
std::string subheading(std::string_view text);
/// An SVG that scrolls, in a <figure> if there is a caption.
std::string figure(std::string_view caption, const std::string& svg);
/// A list of texts under a subheading; empty if there are none.
std::string text_list(std::string_view heading, const std::vector<std::string>& texts);

}  // namespace roof::analysis
