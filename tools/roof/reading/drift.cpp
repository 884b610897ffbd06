#include "tools/roof/reading/drift.hpp"

#include "analysis/study/study.hpp"
#include "ert/base/error.hpp"

#include <algorithm>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The other folders beside it, newest first: a folder's name begins with its date.
std::vector<fs::path> others_beside(const fs::path& home, const fs::path& now)
{
    std::vector<fs::path> folders;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(home, none))
        if (entry.is_directory() && !fs::equivalent(entry.path(), now, none)) folders.push_back(entry.path());
    std::ranges::sort(folders, std::greater{});
    return folders;
}

std::optional<Results> complete_by_plan(const fs::path& folder, const Results& now, const Scheduler& scheduler)
{
    try {
        if (read_file(folder / "plan.yaml") != now.plan) return std::nullopt;
        const Machine machine = read_machine_of(folder);
        const bool is_other_node = !machine.node.empty() && machine.node != now.machine.node;
        if (machine.name != now.machine.name || is_other_node) return std::nullopt;
        Results results = read_results(folder);
        if (!scheduler.next(results.rows).empty()) return std::nullopt;
        return results;
    } catch (const Error&) {
        return std::nullopt;  // a damaged folder is skipped
    }
}

}  // namespace

std::optional<analysis::Comparison> drift_since_last(const Results& now, const Scheduler& scheduler,
                                                     const Context& context)
{
    for (const fs::path& folder : others_beside(context.results / now.machine.name, now.folder)) {
        const std::optional<Results> before = complete_by_plan(folder, now, scheduler);
        if (before) return analysis::compare(analysis::make_study(*before, *before), analysis::make_study(now, now));
    }
    return std::nullopt;
}

}  // namespace roof
