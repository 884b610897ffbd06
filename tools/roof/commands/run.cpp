// `roof run`: trains a model for a few steps, prints them as they happen, then each row under the ceilings.
#include "analysis/estimate/estimate.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/processes.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/simulation.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/explain.hpp"
#include "tools/roof/session/looks.hpp"
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

std::string line(std::string_view key, const std::string& text)
{
    return fmt::format("    {:<10} {}\n", key, text);
}

std::string step_text(const Measurement& row)
{
    const auto warmup = std::count_if(row.samples.begin(), row.samples.end(),
                                      [](const Sample& s) { return !s.used && s.window.empty(); });
    constexpr int fewest_of_interval = 6;  // the range of fewer covers less than 95%
    const std::string of_steps =
        fmt::format("of {} steps, {} warm-up left out ({})", row.seconds.n, warmup, name(row.time_known));
    if (processes_of(row) > 1)
        return fmt::format("{}  mean and 95% interval of the medians of {} processes; {}",
                           analysis::with_interval(row.seconds, "s"), processes_of(row), of_steps);
    return fmt::format("{}  median and {} {}", analysis::with_interval(row.seconds, "s"),
                       row.seconds.n < fewest_of_interval ? "range" : "95% interval", of_steps);
}

std::string images_text(const Measurement& row)
{
    return fmt::format("{:.4g} total {} over total time, data wait included; {:.4g} of the median step ({})",
                       row.images_per_second(), analysis::batch_items({&row, 1}),
                       row.images_per_second_of_median_step(), name(row.time_known));
}

std::string phases_text(const Measurement& row)
{
    return fmt::format("forward {}, backward {}, update {}; wait for data {} (medians, {})",
                       format_duration(row.forward.median.value), format_duration(row.backward.median.value),
                       format_duration(row.update.median.value), format_duration(row.data.median.value),
                       name(row.time_known));
}

/// The same rates of tokens; empty for a network of images.
std::string tokens_line(const Measurement& row)
{
    const auto tokens = static_cast<double>(analysis::tokens_each(row));
    if (tokens == 0) return "";
    return line("tokens/s",
                fmt::format("{:.4g} total; {:.4g} of the median step ({})", tokens * row.images_per_second(),
                            tokens * row.images_per_second_of_median_step(), name(row.time_known)));
}

/// Multiply-adds are known for the models of this project. A row of another model shows only its declared values.
std::string per_image_text(const Measurement& row)
{
    const double images = std::max(1.0, row.images());
    const std::string flops =
        format_si(row.work.flops.value / images, "FLOP") +
        (row.point.text_or("phase", "train") == "train" ? " per training step" : " per forward pass");
    std::string multiply_adds;
    try {
        const long long tokens = analysis::tokens_of(row);
        const analysis::Sizes sizes = tokens > 0 ? analysis::Sizes{{"tokens", tokens}} : analysis::Sizes{};
        const auto network =
            analysis::network_of(analysis::model_of(row), sizes, model::Optimizer::sgd, analysis::passes_of(row.point));
        const auto model = analysis::estimate_model(network, 1, row.point.precision());
        multiply_adds = format_si(static_cast<double>(model.multiply_adds), "MAC") + " forward, ";
    } catch (const InputError&) {
    }
    return fmt::format("{}{}; 2 FLOPs per multiply-add ({})", multiply_adds, flops, name(row.work.known));
}

std::string rate_text(const Measurement& row, const Ceilings& ceilings)
{
    const auto rate = row.work.flops / row.seconds;
    const std::string text = analysis::with_interval(rate, "FLOP/s");
    const auto roofs = analysis::roofs_of(ceilings, row.device, analysis::threads_of(row));
    const Ceiling* ceiling = roofs.precision(analysis::precision_of(row));
    if (ceiling == nullptr) return text + "; there is no measured roof to compare with: 'roof calibrate' measures one";
    return fmt::format("{}, {} of the measured {} roof {} ({}{})", text,
                       analysis::share_of_roof(rate.median.value / ceiling->rate.median.value,
                                               ceiling->steadiness == Steadiness::at_least),
                       ceiling->precision, analysis::rate_text(*ceiling), analysis::threads_text(ceiling->threads),
                       ceiling->stands_in.empty() ? "" : "; " + ceiling->stands_in);
}

/// A line about the ranks; empty with one rank.
std::string ranks_line(const Measurement& row)
{
    if (row.ranks() < 2) return "";
    const Seconds both = row.exposed.median + row.hidden.median;
    return line("ranks",
                fmt::format("{}; communication {} exposed, {} hidden beside the backward pass (medians, measured); "
                            "{} of messages, {} over the links by the ring's count (analytic)",
                            row.ranks(), format_duration(row.exposed.median.value),
                            format_duration(row.hidden.median.value), format_si(row.messages.value, "B"),
                            both.value > 0 ? format_si(analysis::bus_bandwidth(row).value, "B/s") : "0 B/s"));
}

std::string losses_text(const Measurement& row)
{
    std::string text;
    for (const double loss : row.losses()) text += fmt::format("{:.6g} ", loss);
    return std::string(trim(text));
}

/// The text of a row. Without a calibration, it has the command for one instead of the share of the roof.
std::string run_summary(const Measurement& row, const analysis::Study& study)
{
    const std::string title = printable(analysis::step_title(row, study.results.rows)) + '\n';
    if (row.status != Status::ok) {
        return title + line("status", fmt::format("{}: {}", name(row.status), printable(row.reason)));
    }
    const std::string items = analysis::batch_items({&row, 1});
    const std::string busy = analysis::busy_text(row);
    return title + line("step", step_text(row)) + (busy.empty() ? "" : line("busy", busy)) +
           line(items + "/s", images_text(row)) + tokens_line(row) + line("phases", phases_text(row)) +
           ranks_line(row) + line("per " + items.substr(0, items.size() - 1), per_image_text(row)) +
           line("rate", rate_text(row, ceilings_over(study, row))) + line("losses", losses_text(row)) +
           (row.remarks.empty() ? "" : line("remarks", printable(row.remarks)));
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
    const auto fitted = [&](const std::string& text) { return analysis::fitted_lines(text, context.terminal.width); };
    print_calibration_line(study, context.terminal.width, context.out);
    for (const Measurement& row : session.rows) context.out << fitted(run_summary(row, study)) << '\n';
    if (const analysis::DataTable lasting = analysis::energy_table(study); !lasting.empty())
        context.out << analysis::to_text(lasting, context.terminal.width) << '\n';
    if (const std::string above = analysis::above_text(study); !above.empty()) context.out << fitted(above + "\n");
    context.out << session.folder.string() << '\n';
    return session.status();
}

}  // namespace

Action run(OptionParser& parser)
{
    return [options = RunOptions{parser}](Context& context) { return train(options, context); };
}

}  // namespace roof
