#include "analysis/report/report.hpp"

#include <fmt/format.h>

#include <array>

// Of page/style.css and page/print.css, as the generated styles.S has them.
extern "C" const char roof_style_begin[], roof_style_end[];
extern "C" const char roof_print_style_begin[], roof_print_style_end[];

namespace roof::analysis {
namespace {

/// The only colours of the page and of every picture; the script reads them from the page. c0 to c7 and the phases are
/// the set of Okabe and Ito, which colour-blind readers can tell apart; lighter in the dark theme.
struct Colour {
    std::string_view name, light, dark;
};

constexpr std::array<Colour, 24> colours{{
    {"paper", "#fff", "#12161b"},          {"ink", "#1c2126", "#e6eaee"},      {"soft", "#59636e", "#9aa5b0"},
    {"line", "#dfe4e9", "#2a323a"},        {"tint", "#f5f7f9", "#1a2026"},     {"link", "#0a5c9e", "#7cc0f5"},
    {"roof", "#39424c", "#c8d0d8"},        {"band", "#39424c", "#c8d0d8"},     {"warn", "#a33c00", "#ffab70"},
    {"forward", "#0072b2", "#56b4e9"},     {"backward", "#d55e00", "#f0883e"}, {"update", "#009e73", "#2fc796"},
    {"rest", "#b9c1c9", "#4a545e"},        {"compute", "#0072b2", "#56b4e9"},  {"bandwidth", "#e69f00", "#e6b23a"},
    {"unexplained", "#cc79a7", "#d98fb8"}, {"c0", "#0072b2", "#56b4e9"},       {"c1", "#d55e00", "#f0883e"},
    {"c2", "#009e73", "#2fc796"},          {"c3", "#cc79a7", "#d98fb8"},       {"c4", "#e69f00", "#e6b23a"},
    {"c5", "#56b4e9", "#2f8fd0"},          {"c6", "#1c2126", "#e6eaee"},       {"c7", "#948b00", "#f0e442"},
}};

std::string variables(std::string_view Colour::*theme)
{
    std::string text = ":root{color-scheme:light dark";
    for (const Colour& colour : colours) text += fmt::format(";--{}:{}", colour.name, colour.*theme);
    return text + "}";
}

}  // namespace

std::string style_sheet()
{
    return fmt::format("{}\n@media screen and (prefers-color-scheme:dark){{{}}}\n{}{}", variables(&Colour::light),
                       variables(&Colour::dark), std::string_view{roof_style_begin, roof_style_end},
                       std::string_view{roof_print_style_begin, roof_print_style_end});
}

std::string picture_style_sheet()
{
    std::string text = "\n" + std::string(roof_style_begin, roof_style_end);
    for (const Colour& colour : colours) {
        const std::string use = fmt::format("var(--{})", colour.name);
        for (std::size_t at = text.find(use); at != std::string::npos; at = text.find(use, at))
            text.replace(at, use.size(), colour.light);
    }
    return text;
}

std::string html_document(std::string_view title, std::string_view header, std::string_view main,
                          std::string_view scripts, std::string_view policy)
{
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{}\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}<main>\n{}</main>\n{}</body>\n</html>\n",
        policy, title, style_sheet(), header, main, scripts);
}

}  // namespace roof::analysis
