#include "tools/roof/reading/study.hpp"

#include "analysis/report/terminal.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/reading/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

namespace roof {
namespace {

void report_damage(const Results& results, Context& context)
{
    constexpr std::size_t most_told = 5;
    if (results.damage.empty()) return;
    context.status = 1;
    const std::size_t told = std::min(results.damage.size(), most_told);
    for (std::size_t i = 0; i < told; ++i) context.err << "roof: damaged: " << printable(results.damage[i]) << '\n';
    if (told < results.damage.size())
        context.err << fmt::format("roof: {} more; `roof check {}` names all\n", results.damage.size() - told,
                                   printable(results.folder.string()));
}

/// Throws InputError with the runs below a folder that holds runs and is none itself.
void require_run(const std::filesystem::path& folder)
{
    constexpr std::size_t most_told = 10;
    std::error_code none;
    if (std::filesystem::exists(folder / "machine.yaml", none)) return;
    const std::vector<std::filesystem::path> runs = runs_below(folder);
    if (runs.empty()) return;
    std::vector<std::string> names;
    for (const std::filesystem::path& run : std::span(runs).first(std::min(runs.size(), most_told)))
        names.push_back(printable(run.string()));
    throw InputError(fmt::format("'{}' holds {} runs and is none itself; name one, the newest first: {}",
                                 printable(folder.string()), runs.size(), join(names, ", ")));
}

}  // namespace

std::vector<std::filesystem::path> runs_below(const std::filesystem::path& folder)
{
    constexpr int deepest = 2;
    std::error_code none;
    std::vector<std::filesystem::path> runs;
    using Folders = std::filesystem::recursive_directory_iterator;
    for (Folders at(folder, std::filesystem::directory_options::skip_permission_denied, none), end; at != end;
         at.increment(none)) {
        if (at.depth() + 1 >= deepest) at.disable_recursion_pending();
        if (std::filesystem::exists(at->path() / "machine.yaml", none)) runs.push_back(at->path());
    }
    std::ranges::sort(runs, std::greater{}, [](const std::filesystem::path& run) { return run.filename(); });
    return runs;
}

analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      Context& context)
{
    require_run(folder);
    analysis::Study study = analysis::open_study(folder, calibration);
    if (calibration.empty() && study.ceilings.all.empty()) {
        const auto here = find_calibration(context.results / study.results.machine.name, study.results.machine.node);
        if (!here.empty()) study = analysis::open_study(folder, here);
    }
    report_damage(study.results, context);
    if (study.calibration.folder != study.results.folder) report_damage(study.calibration, context);
    return study;
}

void print_calibration_line(const analysis::Study& study, int width, std::ostream& out)
{
    const std::string line = analysis::calibration_line(study);
    if (!line.empty()) out << analysis::fitted_lines(line + "\n", width);
}

void print_study(const analysis::Study& study, const PrintOptions& options, std::ostream& out)
{
    constexpr int top_layers = 5;
    out << analysis::verdict_text(study, options.width) << '\n' << predictions_text(study, options.width);
    if (const analysis::DataTable ranks = analysis::scaling_table(study); !ranks.empty())
        out << analysis::to_text(ranks, options.width) << '\n';
    if (options.brief) return;
    for (const std::string& picture :
         {analysis::terminal_batches(study, options.columns, options.plain),
          analysis::terminal_layers(study, options.columns, options.plain),
          analysis::recording_text(study, options.width), analysis::headroom_text(study, top_layers, options.width),
          analysis::terminal_roofline(study, options.columns, options.plain)})
        if (!picture.empty()) out << picture << '\n';
}

}  // namespace roof
