#include "tools/roof/reading/study.hpp"

#include "analysis/report/terminal.hpp"
#include "analysis/study/recording_tables.hpp"
#include "analysis/study/scaling.hpp"
#include "analysis/study/verdict.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/reading/expectations.hpp"

namespace roof {

analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      const Context& context)
{
    analysis::Study study = analysis::open_study(folder, calibration);
    if (calibration.empty() && study.ceilings.all.empty()) {
        const auto here = find_calibration(context.results / study.results.machine.name);
        if (!here.empty()) study = analysis::make_study(std::move(study.results), read_results(here));
    }
    answer_expectations(study);
    return study;
}

void print_study(const analysis::Study& study, const PrintOptions& options, std::ostream& out)
{
    constexpr int top_layers = 5;
    out << analysis::verdict_text(study, options.width) << '\n' << expectations_text(study, options.width);
    if (const std::string ranks = analysis::scaling_text(study, options.width); !ranks.empty()) out << ranks << '\n';
    if (options.brief) return;
    for (const std::string& picture : {analysis::terminal_batches(study, options.columns, options.plain),
                                       analysis::terminal_layers(study, options.columns, options.plain)})
        if (!picture.empty()) out << picture << '\n';
    if (const std::string recording = analysis::recording_text(study, options.width); !recording.empty())
        out << recording << '\n';
    out << analysis::headroom_text(study, top_layers, options.width) << '\n'
        << analysis::terminal_roofline(study, options.columns, options.plain) << '\n';
}

}  // namespace roof
