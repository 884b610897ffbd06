#include "tools/roof/help.hpp"

#include "ert/base/text.hpp"
#include "tools/roof/binary/embedded.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace roof {

namespace {

std::size_t indent_of(std::string_view line)
{
    return std::min(line.find_first_not_of(' '), line.size());
}

/// Where the description begins in "    --option NAME  description"; npos without one.
std::size_t description_in(std::string_view line)
{
    const std::size_t gap = line.find("  ", indent_of(line));
    return gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
}

/// Whether `line` continues `before`: a paragraph, or the description of an option at the same column.
bool continues(std::string_view line, std::string_view before)
{
    if (line.empty() || before.empty() || before.starts_with('#')) return false;
    const std::size_t indent = indent_of(line);
    if (indent == 0) return indent_of(before) == 0;
    return indent > 4 && indent == description_in(before) && line.find("  ", indent) == std::string_view::npos;
}

}  // namespace

std::string fitted_help(const std::string& page, const Terminal& terminal)
{
    if (terminal.width <= 0) return page;
    std::vector<std::string> lines;
    for (const std::string& line : split(std::string_view(page).substr(0, page.size() - 1), '\n')) {
        if (!lines.empty() && continues(line, lines.back()))
            lines.back() += " " + line.substr(indent_of(line));
        else
            lines.push_back(line);
    }
    std::string text;
    bool is_example = false;
    for (const std::string& line : lines) {
        if (line.starts_with('#')) is_example = line == "## Examples";
        const bool is_whole = is_example && line.starts_with(' ');
        text += is_whole ? line + "\n" : in_window(line + "\n", terminal);
    }
    return text;
}

std::string overview()
{
    std::string text = help_of("roof");
    text += "\n## Commands\n\n";
    for (const Command& command : commands) text += fmt::format("    {:10} {}\n", command.name, command.summary);
    return text +
           "\n`roof help COMMAND` explains each with examples; `-o` is short for `--out`; `roof --version` or "
           "`-V`\nprints the version of this binary.\n";
}

std::string help_of(std::string_view command)
{
    const std::string path = "tools/roof/help/" + std::string(command) + ".md";
    for (const EmbeddedText& file : embedded_texts()) {
        if (file.path == path) return std::string(file.text);
    }
    throw std::logic_error("no help for " + std::string(command));
}

}  // namespace roof
