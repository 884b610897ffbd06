// `roof sweep`: measures every item of a plan into a results folder; an interrupted sweep can be continued.
#include "analysis/fleet/digest.hpp"
#include "analysis/study/json.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/shell.hpp"
#include "tools/roof/reading/plan_time.hpp"
#include "tools/roof/reading/predictions.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"
#include "tools/roof/session/progress.hpp"
#include "tools/roof/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof {
namespace {

struct Options {
    OptionParser& parser;
    std::string& plan = parser.required("PLAN");
    bool& dry_run = parser.flag("--dry-run");
    std::string& only = parser.value("--only");
    std::vector<std::string>& settings = parser.repeated("--set");
    std::string& out = parser.value("--out");
    std::string& node = parser.value("--node");
    bool& predict = parser.flag("--predict");
    bool& json = parser.flag("--json");
};

std::vector<std::string> sweep_arguments(const Options& options)
{
    std::vector<std::string> arguments{"sweep", options.plan};
    for (const std::string& setting : options.settings) arguments.insert(arguments.end(), {"--set", setting});
    return arguments;
}

/// The command that measures this item alone. `sweep`: the arguments "sweep PLAN" with their settings, without --only.
std::string reproducing_command(const Item& item, const std::vector<std::string>& sweep)
{
    std::vector<std::string> words{"roof"};
    words.insert(words.end(), sweep.begin(), sweep.end());
    words.insert(words.end(), {"--only", item.id()});
    return shell_line(words);
}

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep, const PlanTime& time)
{
    std::string text;
    std::map<std::string, int> missing;
    for (const Item& item : items) {
        text += printable(reproducing_command(item, sweep));
        if (!item.missing.empty()) text += "   # unsupported";
        text += '\n';
        if (!item.missing.empty()) ++missing[item.missing];
    }
    for (const auto& [reason, count] : missing) text += fmt::format("# {} unsupported: {}\n", count, printable(reason));
    std::vector<std::string> from;
    if (time.remembered > 0) from.push_back(fmt::format("{} from earlier rows", time.remembered));
    if (time.predicted > 0) from.push_back(fmt::format("{} predicted from the ceilings", time.predicted));
    if (time.budgeted > 0) from.push_back(fmt::format("{} from their time budgets alone", time.budgeted));
    return text + fmt::format("{} items, about {}{}{}\n", items.size(), format_duration(time.total.value),
                              from.empty() ? "" : ": ", join(from, ", "));
}

/// {"items":[{"id","command","missing"}],"estimated_seconds","remembered","predicted","budgeted"}; "missing" is null if the item can be
/// measured.
nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep, const PlanTime& time)
{
    nlohmann::json list = nlohmann::json::array();
    for (const Item& item : items) {
        const nlohmann::json missing = item.missing.empty() ? nlohmann::json() : nlohmann::json(item.missing);
        list.push_back({{"id", item.id()}, {"command", reproducing_command(item, sweep)}, {"missing", missing}});
    }
    return {{"items", list},
            {"estimated_seconds", time.total.value},
            {"remembered", time.remembered},
            {"predicted", time.predicted},
            {"budgeted", time.budgeted}};
}

/// The text kept in the folder, which holds one plan. A plan changed by options is a different plan.
std::string text_of(const Plan& plan, const Options& options)
{
    std::string text = plan.source;
    if (!text.empty() && text.back() != '\n') text += '\n';
    for (const std::string& setting : options.settings) text += "# swept with --set " + setting + '\n';
    if (!options.only.empty()) text += "# swept with --only " + options.only + '\n';
    return text;
}

void show(const Session& session, const Options& options, Context& context)
{
    const analysis::Study study = open_with_calibration(session.folder, {}, context);
    analysis::keep_digest(study.results);
    if (options.json) {
        print_json(context.out, analysis::study_json(study));
        return;
    }
    print_calibration_line(study, context.terminal.width, context.out);
    print_study(study, {context.terminal.columns, context.terminal.width, context.terminal.plain, false}, context.out);
    context.out << session.folder.string() << '\n';
}

int sweep_plan(const Options& options, Context& context)
{
    const Plan plan = find_plan(options.plan);
    const Scheduler scheduler(plan, context.registry, parse_settings(options.settings), options.only);
    if (options.dry_run) {
        check_items(scheduler.planned(), context.registry);
        PlanTime time = plan_time(scheduler.planned(), context);
        time.total = std::max(time.total, scheduler.extra_rounds_until());
        if (options.json)
            print_json(context.out, dry_run_json(scheduler.planned(), sweep_arguments(options), time));
        else
            context.out << dry_run_text(scheduler.planned(), sweep_arguments(options), time);
        return 0;
    }
    Job job{text_of(plan, options), scheduler, options.out, {}, options.node};
    if (options.predict)
        job.opened = [&, predictions = predict(scheduler.planned(), context)](const auto& folder, bool has_rows) {
            keep_predictions(predictions, folder, has_rows, context);
        };
    const Session session = measure_all(job, context, progress(context));
    if (!session.interrupted) show(session, options, context);
    return session.status();
}

}  // namespace

Action sweep(OptionParser& parser)
{
    return [options = Options{parser}](Context& context) { return sweep_plan(options, context); };
}

}  // namespace roof
