#include "analysis/report/report.hpp"

#include <fmt/format.h>

#include <array>

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

constexpr std::string_view rules = R"css(
*{box-sizing:border-box}
body{margin:0 auto;max-width:1124px;padding:40px 32px 80px;background:var(--paper);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:28px;line-height:1.2;letter-spacing:-.01em;margin:0 0 6px}
h2{font-size:20px;margin:56px 0 4px;padding-top:16px;border-top:1px solid var(--line)}
h3{font-size:16px;margin:28px 0 6px}h3.part{font-size:14px;margin:24px 0 6px}
p{margin:6px 0}.subject{color:var(--soft)}.lead{color:var(--soft);max-width:120ch;margin-bottom:14px}
.warning{border-left:3px solid var(--warn);padding:8px 14px;background:var(--tint);color:var(--warn)}.warn{color:var(--warn)}
nav{font-size:13px}nav a{display:block;padding:1px 0}a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;margin:6px 0;width:100%}
th{font-weight:600;text-align:left;color:var(--soft);border-bottom:1px solid var(--line);vertical-align:bottom}
th,td{padding:5px 14px 5px 0;vertical-align:baseline}td{border-bottom:1px solid var(--line)}
.n{text-align:right}tbody td:first-child{white-space:nowrap}td.n{white-space:nowrap}tr:hover td{background:var(--tint)}
.bar{display:inline-flex;width:110px;height:11px;border-radius:2px;overflow:hidden;background:var(--tint)}.bar i{height:100%}
.legend{font-size:13px;color:var(--soft);margin:8px 0}.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;
margin:0 6px 0 12px;vertical-align:-1px}.legend i:first-child,.legend br+i{margin-left:0}.legend svg{margin:0 6px 0 10px;vertical-align:-2px}
figure{margin:18px 0}figcaption{font-weight:600;font-size:14px}.pair{display:flex;flex-wrap:wrap;gap:20px}
svg{display:block;max-width:none}.legend svg{display:inline-block}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 20px;font-size:14px;margin:8px 0}dt{color:var(--soft)}dd{margin:0}
.numbers summary{color:var(--soft);font-size:13px}.numbers .scroll{max-height:420px;overflow:auto}ul{margin:4px 0;padding-left:20px;font-size:14px}details{margin-top:14px;font-size:14px}summary{cursor:pointer}
pre{background:var(--tint);padding:14px;overflow-x:auto;font:12.5px/1.5 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
i.forward{background:var(--forward)}i.backward{background:var(--backward)}
i.update{background:var(--update)}i.rest{background:var(--rest)}
.compute{background:var(--compute)}.bandwidth{background:var(--bandwidth)}.unexplained{background:var(--unexplained)}
.grid{stroke:var(--line);stroke-width:1}.axis{fill:none;stroke:var(--soft);stroke-width:1}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.tick{fill:var(--soft);font-size:11.5px}.label{fill:var(--soft)}.middle{text-anchor:middle}.end{text-anchor:end}
.name{font-weight:600}.halo,.name{paint-order:stroke;stroke:var(--paper);stroke-width:3.5px;stroke-linejoin:round}
.halo{font-weight:500}
.under{fill:none;stroke:var(--paper);stroke-width:3.5px;stroke-linejoin:round}.under+text{stroke:none}
.band{fill:var(--band);opacity:.16}.edge{stroke:var(--roof);stroke-width:1.5}.roof:hover .edge{stroke-width:3}.mix .edge{stroke-dasharray:6 4}
.mark{color:var(--ink)}.dot>.shape{fill:currentColor;fill-opacity:.6;stroke:var(--paper);stroke-width:.7}
.hollow>.shape{fill:var(--paper);fill-opacity:.7;stroke:currentColor;stroke-width:1.4}
.outline>.shape{fill:none;stroke:currentColor;stroke-width:1.4;stroke-opacity:.55}.step>.shape{fill:none;stroke:currentColor;stroke-width:2.2}
.ridge .shape{fill:var(--paper);stroke:var(--roof);stroke-width:1.3}
.may-be{background:var(--bandwidth);opacity:.35}.at-least{background:var(--bandwidth)}
.arrow{fill:currentColor;stroke:var(--paper);stroke-width:.7}.unknown .edge{stroke-dasharray:6 4;stroke-width:1.2}
.interval,.leader{stroke:currentColor;stroke-width:1;opacity:.75}.step>.interval{opacity:.3}.leader{stroke:var(--soft);opacity:.7}
.curve{fill:none;stroke:currentColor;stroke-width:1.4}.curve.dot{fill-opacity:0}.trajectory{color:var(--ink);stroke-dasharray:4 3;stroke-width:1.1}
.change{color:var(--soft)}.change-line{stroke:currentColor;stroke-width:1;opacity:.7}
.level-mark{stroke:var(--ink);stroke-width:1}.reported-mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 4}
)css";

constexpr std::string_view print_rules =
    R"css(@media print{body{max-width:none;padding:0}nav{display:none}section{break-inside:auto}figure,tr{break-inside:avoid}h2,h3,.lead{break-after:avoid}
svg{max-width:100%;height:auto}a{color:inherit}}
)css";

/// The rules of marks whose colour is that of their phase or series.
std::string all_rules()
{
    std::string text(rules);
    for (const char* phase : {"forward", "backward", "update"})
        text += fmt::format(".{0}{{color:var(--{0})}}\n", phase);
    for (int i = 0; i < 8; ++i) text += fmt::format(".s{0}{{color:var(--c{0})}}i.s{0}{{background:var(--c{0})}}\n", i);
    return text;
}

std::string variables(std::string_view Colour::*theme)
{
    std::string text = ":root{color-scheme:light dark";
    for (const Colour& colour : colours) text += fmt::format(";--{}:{}", colour.name, colour.*theme);
    return text + "}";
}

}  // namespace

std::string style_sheet()
{
    return fmt::format("{}\n@media screen and (prefers-color-scheme:dark){{{}}}{}{}", variables(&Colour::light),
                       variables(&Colour::dark), all_rules(), print_rules);
}

std::string picture_style_sheet()
{
    std::string text = all_rules();
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
