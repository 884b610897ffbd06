// `roof report`: result folders read back, on any machine and at any time later, as a page, tables and a terminal picture.
#include "analysis/report.hpp"

#include "analysis/export.hpp"
#include "analysis/terminal.hpp"
#include "analysis/verdict.hpp"
#include "tools/roof/calibration.hpp"
#include "tools/roof/commands.hpp"
#include "tools/roof/expectations.hpp"

#include <memory>

namespace roof {
namespace {

constexpr int top_layers = 5;

struct Options {
    std::vector<std::string> folders;
    std::string out;
    std::string calibration;
    bool brief = false;
};

int make_report(const Options& options, Context& context)
{
    std::vector<analysis::Study> studies;
    for (const std::string& folder : options.folders) {
        studies.push_back(open_with_calibration(folder, options.calibration, context));
    }
    std::filesystem::path page = options.out;
    if (page.empty()) page = std::filesystem::path(options.folders.front()) / "report.html";
    analysis::write_report(studies, page);
    for (const analysis::Study& study : studies) {
        analysis::write_csv(study, study.results.folder);
        context.out << analysis::verdict_table(study) << '\n' << expectations_text(study);
        if (options.brief) continue;
        context.out << analysis::top_headroom(study, top_layers) << '\n'
                    << analysis::terminal_roofline(study, context.terminal.columns, context.terminal.plain) << '\n';
    }
    context.out << page.string() << '\n';
    return 0;
}

}  // namespace

Action report(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.words("DIR", options->folders);
    grammar.value("--out", options->out);
    grammar.value("--calibration", options->calibration);
    grammar.flag("--brief", options->brief);
    return [options](Context& context) { return make_report(*options, context); };
}

}  // namespace roof
