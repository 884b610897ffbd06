// `roof run`: trains a model for a few steps, prints them as they happen, then each row under the ceilings.
#include "analysis/study/json.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/commands/run_summary.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/simulate.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/explain.hpp"
#include "tools/roof/session/session.hpp"
#include "tools/roof/session/train_plan.hpp"
#include "tools/roof/session/training_log.hpp"

#include <algorithm>
#include <memory>

namespace roof {
namespace {

struct Options {
    TrainOptions train;
    std::string out;
    std::string node;
    bool json = false;
    bool explain = false;
    bool simulate = false;
};

int explain_only(const std::vector<Item>& items, const Options& options, Context& context)
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

int train(const Options& options, Context& context)
{
    const Plan plan = train_plan(options.train);
    const std::vector<Item> items = expand(plan, context.registry);
    if (options.explain) return explain_only(items, options, context);
    if (options.simulate) return simulate(items, options.train, options.json, context);
    if (std::ranges::all_of(items, [](const Item& item) { return item.bench == nullptr; }))
        throw InputError("nothing can be measured on " + options.train.device + ": " + items.front().missing);
    const Listener log = training_log(context.err, steps_of(options.train), context.terminal);
    const Session session = measure_all({plan.source, Scheduler(items), options.out, {}, options.node}, context, log);
    if (session.interrupted) return session.status();
    const analysis::Study study = open_with_calibration(session.folder, {}, context);
    if (options.json) {
        print_json(context.out, analysis::study_json(study));
        return session.status();
    }
    const auto fitted = [&](const std::string& text) { return analysis::fitted_lines(text, context.terminal.width); };
    print_calibration_line(study, context.terminal.width, context.out);
    for (const Measurement& row : session.rows) context.out << fitted(run_summary(row, study)) << '\n';
    if (const std::string above = analysis::above_text(study); !above.empty()) context.out << fitted(above + "\n");
    context.out << session.folder.string() << '\n';
    return session.status();
}

}  // namespace

Action run(OptionParser& parser)
{
    const auto options = std::make_shared<Options>();
    TrainOptions& train_options = options->train;
    parser.required("MODEL", train_options.model);
    parser.required("--batch", train_options.batch);
    parser.value("--device", train_options.device);
    parser.value("--steps", train_options.steps);
    for (const std::string_view axis : train_axes) parser.value(option_of(axis), train_options.axes[axis]);
    parser.flag("--no-graph", train_options.no_graph);
    parser.flag("--deterministic", train_options.deterministic);
    parser.value("--out", options->out);
    parser.value("--node", options->node);
    parser.flag("--profile", train_options.profile);
    parser.flag("--profile-steps", train_options.profile_steps);
    parser.flag("--explain", options->explain);
    parser.flag("--simulate", options->simulate);
    parser.flag("--json", options->json);
    return [options](Context& context) { return train(*options, context); };
}

}  // namespace roof
