// `roof run`: trains a model for a few steps, prints them as they happen, then the verdict on each row.
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/simulation.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"
#include "tools/roof/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

struct RunOptions {
    OptionParser& parser;
    TrainOptions train{parser};
    std::string& out = parser.value("--out");
    std::string& node = parser.value("--node");
    bool& explain = parser.flag("--explain");
    bool& simulate = parser.flag("--simulate");
    bool& json = parser.flag("--json");
};

/// The medians of a measured row's parts, and its losses; empty for another row.
std::string details(const Measurement& row, const analysis::Study& study)
{
    if (row.status != Status::ok) return {};
    std::string losses;
    for (const double loss : row.losses()) losses += fmt::format(" {:.6g}", loss);
    return fmt::format("{}\n    forward {}, backward {}, update {}; wait for data {}\n    losses{}\n",
                       printable(analysis::step_title(row, study.results.rows)),
                       format_duration(row.forward.median.value), format_duration(row.backward.median.value),
                       format_duration(row.update.median.value), format_duration(row.data.median.value), losses);
}

int explain_only(const std::vector<Item>& items, const RunOptions& options, Context& context)
{
    nlohmann::json plans = nlohmann::json::array();
    for (const Item& item : items) {
        const Explanation explanation = explain(item, context.registry);
        if (options.json)
            plans.push_back(explanation_json(explanation));
        else
            context.out << in_window(explanation_text(explanation), context.terminal) << '\n';
    }
    if (options.json) print_json(context.out, {{"plans", plans}});
    return 0;
}

int train(const RunOptions& options, Context& context)
{
    const Plan plan = train_plan(options.train);
    const std::vector<Item> items = expand(plan, context.registry);
    if (options.explain) return explain_only(items, options, context);
    if (options.simulate) return simulate(items, options.train, options.json, context);
    if (std::ranges::all_of(items, [](const Item& item) { return item.bench == nullptr; }))
        throw InputError("nothing can be measured on " + options.train.device + ": " + items.front().missing);
    const Listener log = training_log(context.err, steps_of(options.train), context.messages);
    const Seconds begin = context.clock();
    const Session session = measure_all({plan.source, Scheduler(items), options.out, {}, options.node}, context, log);
    if (session.interrupted) return session.status();
    look_again(session, context.clock() - begin, machine_named(options.node, context), context);
    const analysis::Study study = open_with_calibration(session.folder, {}, context);
    if (options.json) {
        print_json(context.out, analysis::study_json(study));
        return session.status();
    }
    print_calibration_line(study, context.terminal.width, context.out);
    context.out << analysis::verdict_text(study, context.terminal.width) << '\n';
    for (const Measurement& row : session.rows)
        context.out << analysis::fitted_lines(details(row, study), context.terminal.width);
    if (const analysis::DataTable lasting = analysis::energy_table(study); !lasting.empty())
        context.out << analysis::to_text(lasting, context.terminal.width) << '\n';
    context.out << session.folder.string() << '\n';
    return session.status();
}

}  // namespace

Action run(OptionParser& parser)
{
    return [options = RunOptions{parser}](Context& context) { return train(options, context); };
}

}  // namespace roof
