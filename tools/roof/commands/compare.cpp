// `roof compare`: compares two result folders row by row and reports the differences that their intervals support.
#include "analysis/study/compared/compare.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace roof {
namespace {

struct CompareOptions {
    OptionParser& parser;
    std::string& first = parser.required("A");
    std::string& second = parser.required("B");
    std::string& noise = parser.value("--noise");
    bool& by_roofs = parser.flag("--by-roofs");
    std::string& fail_if = parser.value("--fail-if");
    bool& json = parser.flag("--json");
};

/// "slower:5%" -> 0.05.
std::optional<double> parse_fail_if(const std::string& text)
{
    if (text.empty()) return std::nullopt;
    constexpr std::string_view head = "slower:";
    if (text.starts_with(head) && text.ends_with('%')) {
        const auto share =
            parse_number<double>(std::string_view(text).substr(head.size(), text.size() - head.size() - 1));
        if (share && *share >= 0 && std::isfinite(*share)) return *share / 100;
    }
    throw InputError("--fail-if: '" + text + "' is not of the form slower:5%");
}

int compare_folders(const CompareOptions& options, Context& context)
{
    const std::optional<double> most = parse_fail_if(options.fail_if);
    const analysis::Study first = open_with_calibration(options.first, {}, context);
    const analysis::Study second = open_with_calibration(options.second, {}, context);
    const auto judged = options.by_roofs ? analysis::Judged::by_roofs : analysis::Judged::by_time;
    auto comparison = analysis::compare(first, second, judged);
    if (!options.noise.empty())
        analysis::set_noise(comparison, first, open_with_calibration(options.noise, {}, context));
    if (options.json)
        print_json(context.out, analysis::to_json(comparison));
    else
        context.out << analysis::to_text(comparison, context.terminal.width);
    if (!most) return 0;
    if (std::ranges::none_of(comparison.steps, &analysis::Change::enough)) {
        context.err << "--fail-if: no step has five samples on both sides, so none was judged\n";
        return 2;
    }
    const auto slower = analysis::slower_than(comparison, *most);
    for (const analysis::Change& change : slower)
        context.err << fmt::format("slower by {:.1f}%{}: {}\n", 100 * (change.ratio.median - 1),
                                   options.by_roofs ? " beside the roofs" : "", printable(change.id()));
    return slower.empty() ? 0 : 1;
}

}  // namespace

Action compare(OptionParser& parser)
{
    return [options = CompareOptions{parser}](Context& context) { return compare_folders(options, context); };
}

}  // namespace roof
