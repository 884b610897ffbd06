#include "analysis/report/pictures.hpp"

#include "analysis/report/panels.hpp"
#include "analysis/report/style.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

namespace roof::analysis {

namespace {

using Variables = std::map<std::string, std::string>;

/// The variables of the first block, ":root{…}".
Variables variables_of(std::string_view sheet)
{
    Variables variables;
    const std::string_view root = sheet.substr(0, sheet.find('}'));
    for (std::size_t at = root.find("--"); at != std::string_view::npos; at = root.find("--", at)) {
        const std::size_t colon = root.find(':', at);
        const std::size_t end = std::min(root.find(';', at), root.size());
        variables[std::string(root.substr(at, colon - at))] = root.substr(colon + 1, end - colon - 1);
        at = end;
    }
    return variables;
}

/// The variables that classes set, as plain rules.
std::string rules_of_classes(const Variables& variables)
{
    std::string rules;
    for (const char* phase : {"forward", "backward", "update"})
        rules += fmt::format(".point.{0}{{fill:{1};stroke:{1}}}\n", phase, variables.at(fmt::format("--{}", phase)));
    for (int i = 0; i < 8; ++i)
        rules +=
            fmt::format(".s{0} .curve{{stroke:{1}}}.s{0} .dot{{fill:{1}}}\n", i, variables.at(fmt::format("--c{}", i)));
    return rules;
}

double width_of(std::string_view svg)
{
    const std::size_t at = svg.find("width=\"");
    return at == std::string_view::npos ? 0 : std::strtod(svg.data() + at + 7, nullptr);
}

std::string complete_svg(std::string_view svg)
{
    constexpr std::string_view open = "<svg ";
    const std::size_t end = svg.find('>');
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {}>\n<style>{}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{}\n",
        svg.substr(open.size(), end - open.size()), plain_style_sheet(), svg.substr(end + 1));
}

}  // namespace

std::string plain_style_sheet()
{
    const std::string_view sheet = style_sheet();
    const Variables variables = variables_of(sheet);
    std::string plain;
    for (std::size_t at = 0; at < sheet.size();) {
        const std::size_t use = std::min(sheet.find("var(", at), sheet.size());
        plain += sheet.substr(at, use - at);
        if (use == sheet.size()) break;
        const std::size_t end = sheet.find(')', use);
        const auto found = variables.find(std::string(sheet.substr(use + 4, end - use - 4)));
        plain += found == variables.end() ? "inherit" : found->second;
        at = end + 1;
    }
    // Remove the dark theme and the print rules, which only the page needs.
    plain.erase(plain.find("@media print"));
    const std::size_t dark = plain.find("@media");
    plain.erase(dark, plain.find("}}", dark) + 2 - dark);
    return plain + rules_of_classes(variables);
}

std::vector<std::string> pictures_of(std::string_view html)
{
    constexpr std::string_view close = "</svg>";
    constexpr double least_width = 200;
    std::vector<std::string> pictures;
    for (std::size_t at = html.find("<svg "); at != std::string_view::npos; at = html.find("<svg ", at)) {
        const std::size_t end = html.find(close, at);
        if (end == std::string_view::npos) break;
        const std::string_view svg = html.substr(at, end + close.size() - at);
        if (width_of(svg) >= least_width) pictures.push_back(complete_svg(svg));
        at = end;
    }
    return pictures;
}

std::vector<std::filesystem::path> write_pictures(std::span<const Study> studies, const std::filesystem::path& folder)
{
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError("cannot make folder '" + folder.string() + "': " + failure.message());
    std::vector<std::filesystem::path> files;
    for (const Panel& panel : panels()) {
        int number = 0;
        for (const Study& study : studies)
            for (const std::string& picture : pictures_of(panel.render(study, std::string(panel.id)))) {
                files.push_back(folder / fmt::format("{}-{}.svg", panel.id, ++number));
                write_file(files.back(), picture);
            }
    }
    return files;
}

}  // namespace roof::analysis
