// `roof run`: a model trained for a few steps, printed as it trains, then each row's numbers under the ceilings.
#include "analysis/study/json.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/commands/run_summary.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/simulate.hpp"
#include "tools/roof/reading/calibration.hpp"
#include "tools/roof/session/explain.hpp"
#include "tools/roof/session/session.hpp"
#include "tools/roof/session/train_plan.hpp"
#include "tools/roof/session/training_log.hpp"

#include <memory>

namespace roof {
namespace {

struct Options {
    TrainOptions train;
    std::string out;
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
            context.out << explanation_text(explanation) << '\n';
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
    const Listener log = training_log(context.err, steps_of(options.train));
    const Session session = measure_all({plan.source, Scheduler(items), options.out}, context, log);
    if (session.interrupted) return session.status();
    const analysis::Study study = open_with_calibration(session.folder, {}, context);
    if (options.json) {
        print_json(context.out, analysis::study_json(study));
        return session.status();
    }
    const auto fitted = [&](const std::string& text) { return analysis::fitted_lines(text, context.terminal.width); };
    for (const Measurement& row : session.rows) context.out << fitted(run_summary(row, study.ceilings)) << '\n';
    for (const std::string& line : {analysis::above_text(study), analysis::calibration_line(study)})
        if (!line.empty()) context.out << fitted(line + "\n");
    context.out << session.folder.string() << '\n';
    return session.status();
}

}  // namespace

Action run(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    TrainOptions& train_options = options->train;
    grammar.word("MODEL", train_options.model);
    grammar.required("--batch", train_options.batch);
    grammar.value("--device", train_options.device);
    grammar.value("--precision", train_options.precision);
    grammar.value("--algorithm", train_options.algorithm);
    grammar.value("--data", train_options.data);
    grammar.value("--parameters", train_options.parameters);
    grammar.value("--steps", train_options.steps);
    grammar.value("--lr", train_options.lr);
    grammar.value("--threads", train_options.threads);
    grammar.value("--ranks", train_options.ranks);
    grammar.value("--scaling", train_options.scaling);
    grammar.value("--communication", train_options.communication);
    grammar.value("--bucket-mb", train_options.bucket_mb);
    grammar.value("--batch-norm", train_options.batch_norm);
    grammar.flag("--no-graph", train_options.no_graph);
    grammar.flag("--deterministic", train_options.deterministic);
    grammar.value("--out", options->out);
    grammar.flag("--profile", train_options.profile);
    grammar.flag("--explain", options->explain);
    grammar.flag("--simulate", options->simulate);
    grammar.flag("--json", options->json);
    return [options](Context& context) { return train(*options, context); };
}

}  // namespace roof
