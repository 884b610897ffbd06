// `roof sweep`: measures every item of a plan into a results folder; an interrupted sweep can be continued.
#include "analysis/fleet/digest.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"
#include "tools/roof/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace roof {
namespace {

struct SweepOptions {
    OptionParser& parser;
    std::string& plan = parser.required("PLAN");
    bool& dry_run = parser.flag("--dry-run");
    std::string& only = parser.value("--only");
    StoppingWords stopping{parser};
    std::vector<std::string>& settings = parser.repeated("--set");
    std::string& out = parser.value("--out");
    std::string& node = parser.value("--node");
    bool& predict = parser.flag("--predict");
    bool& json = parser.flag("--json");
};

/// From the start of a row to its first launch; medians of results/examples.
constexpr double making_of_step = 0.5;
constexpr double making_of_probe = 0.02;

struct Remembered {
    Estimate<Seconds> launch;
    std::optional<double> making;  ///< seconds; nullopt if unknown
};

/// The time between two rows without their launches. Starts are in whole seconds, so only the mean over many rows is
/// accurate.
std::optional<double> making_of(const Measurement& row, const Measurement& next)
{
    constexpr double longest = 300;  // between them the run was interrupted
    const auto begin = utc_seconds(row.started);
    const auto end = utc_seconds(next.started);
    if (!begin || !end) return std::nullopt;
    const double making = *end - *begin - row.seconds.median.value * (row.seconds.n + row.seconds.discarded);
    return making < longest ? std::optional(making) : std::nullopt;
}

/// Those of the items, by id; of several rows the newest.
std::map<std::string, Remembered> remembered_rows(const std::filesystem::path& machine, const std::vector<Item>& items)
{
    constexpr int most_read = 50;  // folders
    std::set<std::string> wanted;
    for (const Item& item : items) wanted.insert(item.id());
    int read = 0;
    std::map<std::string, Remembered> rows;
    for (const Neighbour& folder : neighbours_in(machine)) {
        if (wanted.empty() || (folder.has_rows && ++read > most_read)) break;
        try {
            const std::vector<Measurement> all = read_rows(folder.place);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const std::optional<double> making = i + 1 < all.size() ? making_of(all[i], all[i + 1]) : std::nullopt;
                if (all[i].status == Status::ok && wanted.erase(all[i].id()) > 0)
                    rows.try_emplace(all[i].id(), Remembered{all[i].seconds, making});
            }
        } catch (const Error&) {  // damaged, or of an older format
        }
    }
    return rows;
}

/// Seconds of the launches of an item whose launch takes `launch`.
double launches(const StoppingOptions& options, const Estimate<Seconds>& launch)
{
    constexpr int least_with_interval = 6;
    double count = std::clamp(std::ceil(options.budget / launch.median), 1.0 * options.min_samples,
                              1.0 * std::max(options.min_samples, options.max_samples));
    const bool was_narrow = launch.n >= least_with_interval && launch.relative_half_width() <= options.interval;
    if (was_narrow) count = std::min(count, 1.0 * std::max(options.min_samples, launch.n));
    return (options.warmup + count) * launch.median.value;
}

std::map<std::string, Seconds> predicted_steps(const std::vector<Item>& items, Context& context)
try {
    std::map<std::string, Seconds> steps;
    for (const analysis::Prediction& one : predict(items, context, false))
        if (one.fits) steps[one.row] = one.predicted;
    return steps;
} catch (const InputError&) {
    return {};  // no calibration
}

struct PlanTime {
    Seconds total;
    std::size_t remembered = 0;  ///< items whose launches were measured here before
    std::size_t predicted = 0;   ///< training steps predicted from the ceilings
    std::size_t budgeted = 0;    ///< the others: their time budgets
};

/// Launches are as many as the plan's budget allows; of an item that was narrow enough before, as many as then. Making
/// a subject takes what it took before, else what it took in the published runs (results/examples). Not included:
/// timing the candidates of convolutions for the first time, and items with keywords. Items that this machine lacks
/// take no time.
PlanTime plan_time(const std::vector<Item>& items, Context& context)
{
    const auto rows = remembered_rows(context.results / context.registry.machine().name, items);
    const auto steps = predicted_steps(items, context);
    PlanTime time;
    double making = 0;
    for (const Item& item : items) {
        if (item.bench == nullptr) continue;
        const std::string id = item.id();
        const auto row = rows.find(id);
        const auto step = steps.find(id);
        std::optional<double> made;
        if (row != rows.end()) {
            ++time.remembered;
            time.total.value += launches(item.stopping, row->second.launch);
            made = row->second.making;
        } else if (step != steps.end()) {
            ++time.predicted;
            time.total.value += launches(item.stopping, {step->second, step->second, step->second});
        } else {
            ++time.budgeted;
            time.total += item.stopping.budget;
        }
        making += made.value_or(item.role == Role::step ? making_of_step : making_of_probe);
    }
    time.total.value += std::max(0.0, making);
    return time;
}

/// "roof sweep PLAN", with its settings and without --only.
std::string sweep_line(const SweepOptions& options)
{
    constexpr std::array set{"--set"};
    return shell_line(
        options.parser.given(StoppingWords::names, options.parser.given(set, {"roof", "sweep", options.plan})));
}

std::string reproducing_command(const Item& item, const std::string& sweep)
{
    return sweep + " --only " + shell_word(item.id());
}

std::string dry_run_text(const std::vector<Item>& items, const std::string& sweep, const PlanTime& time)
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
    return text + fmt::format("{}, about {}{}{}\n", analysis::how_many(items.size(), "item"),
                              format_duration(time.total.value), from.empty() ? "" : ": ", join(from, ", "));
}

/// {"items":[{"id","command","missing"}],"estimated_seconds","remembered","predicted","budgeted"}; "missing" is null if
/// the item can be measured.
nlohmann::json dry_run_json(const std::vector<Item>& items, const std::string& sweep, const PlanTime& time)
{
    const auto item_json = [&](const Item& item) -> nlohmann::json {
        const nlohmann::json missing = item.missing.empty() ? nlohmann::json() : nlohmann::json(item.missing);
        return {{"id", item.id()}, {"command", reproducing_command(item, sweep)}, {"missing", missing}};
    };
    return {{"items", mapped(items, item_json)},
            {"estimated_seconds", time.total.value},
            {"remembered", time.remembered},
            {"predicted", time.predicted},
            {"budgeted", time.budgeted}};
}

/// The text kept in the folder, which holds one plan. A plan changed by options is a different plan.
std::string text_of(const Plan& plan, const SweepOptions& options)
{
    std::string text = plan.source;
    if (!text.empty() && text.back() != '\n') text += '\n';
    for (const std::string& setting : options.settings) text += "# swept with --set " + setting + '\n';
    if (!options.only.empty()) text += "# swept with --only " + options.only + '\n';
    return text;
}

void show(const Session& session, const SweepOptions& options, Context& context)
{
    const analysis::Study study = open_with_calibration(session.folder, {}, context);
    analysis::keep_digest(study.results);
    if (options.json) {
        print_json(context.out, analysis::study_json(study));
        return;
    }
    print_calibration_line(study, context.terminal.width, context.out);
    print_study(study, context.terminal, false, context.out);
    context.out << session.folder.string() << '\n';
}

int sweep_plan(const SweepOptions& options, Context& context)
{
    Plan plan = find_plan(options.plan);
    apply(options.stopping, plan);
    const Scheduler scheduler(plan, context.registry, parse_settings(options.settings), options.only);
    if (options.dry_run) {
        check_items(scheduler.planned(), context.registry);
        PlanTime time = plan_time(scheduler.planned(), context);
        time.total = std::max(time.total, scheduler.extra_rounds_until());
        if (options.json)
            print_json(context.out, dry_run_json(scheduler.planned(), sweep_line(options), time));
        else
            context.out << dry_run_text(scheduler.planned(), sweep_line(options), time);
        return 0;
    }
    Job job{text_of(plan, options), scheduler, options.out, {}, options.node};
    if (options.predict)
        job.opened = [&, predictions = predict(scheduler.planned(), context, true)](const auto& folder, bool has_rows) {
            keep_predictions(predictions, folder, has_rows, context);
        };
    const Seconds begin = context.clock();
    const Session session = measure_all(job, context, progress(context));
    if (session.interrupted) return session.status();
    look_again(session, context.clock() - begin, machine_named(options.node, context), context);
    show(session, options, context);
    return session.status();
}

}  // namespace

Action sweep(OptionParser& parser)
{
    return [options = SweepOptions{parser}](Context& context) { return sweep_plan(options, context); };
}

}  // namespace roof
