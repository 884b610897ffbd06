#include "tools/roof/reading/print_study.hpp"

#include "analysis/report/terminal.hpp"
#include "analysis/study/recording_tables.hpp"
#include "analysis/study/scaling.hpp"
#include "analysis/study/verdict.hpp"
#include "tools/roof/reading/expectations.hpp"

namespace roof {
namespace {

constexpr int top_layers = 5;

}  // namespace

void print_study(const analysis::Study& study, const Print& print, std::ostream& out)
{
    out << analysis::verdict_table(study, print.width) << '\n' << expectations_text(study, print.width);
    if (const std::string ranks = analysis::scaling_table(study, print.width); !ranks.empty()) out << ranks << '\n';
    if (print.brief) return;
    for (const std::string& picture : {analysis::terminal_batches(study, print.columns, print.plain),
                                       analysis::terminal_layers(study, print.columns, print.plain)})
        if (!picture.empty()) out << picture << '\n';
    if (const std::string recording = analysis::recording_text(study, print.width); !recording.empty())
        out << recording << '\n';
    out << analysis::top_headroom(study, top_layers, print.width) << '\n'
        << analysis::terminal_roofline(study, print.columns, print.plain) << '\n';
}

}  // namespace roof
