// `roof calibrate`: the ceilings of this machine, by the plan for its kind of device that is compiled into the binary.
#include "analysis/json.hpp"
#include "analysis/verdict.hpp"
#include "ert/base/text.hpp"
#include "ert/method/ceiling.hpp"
#include "tools/roof/arguments.hpp"
#include "tools/roof/commands.hpp"
#include "tools/roof/output.hpp"
#include "tools/roof/plans.hpp"
#include "tools/roof/progress.hpp"
#include "tools/roof/session.hpp"

#include <algorithm>
#include <memory>

namespace roof {
namespace {

constexpr int most_threads = 65536;

struct Options {
    std::string device = "cpu";
    std::string threads;
    std::string out;
    bool quick = false;
    bool json = false;
};

/// A GPU that is not here has a plan all the same: its rows say why they are not measured.
Plan plan_for(const std::string& device, const Machine& machine, const Options& options)
{
    const bool is_gpu = device.starts_with("gpu:");
    const std::string kind = is_gpu ? "gpu" : machine.device(device).kind;
    Plan plan = find_plan("calibrate/" + kind + (options.quick ? "-quick" : ""));
    for (PlanEntry& entry : plan.entries) entry.device = device;
    return plan;
}

void say_if_nothing_was_measured(const Session& session, const std::string& device, Context& context)
{
    const auto measured = [](const Measurement& row) { return row.status == Status::ok; };
    if (session.rows.empty() || std::ranges::any_of(session.rows, measured)) return;
    context.err << "nothing could be measured on " << printable(device) << ": "
                << printable(session.rows.front().reason) << '\n';
}

int measure_ceilings(const Options& options, Context& context)
{
    const Machine& machine = context.lab.machine();
    const Plan plan = plan_for(options.device, machine, options);
    Settings settings;
    std::string text = plan.source + "# on device " + options.device + '\n';
    if (!options.threads.empty()) {
        settings["threads"] = {std::to_string(whole_number("--threads", options.threads, 1, most_threads))};
        text += "# with --threads " + options.threads + '\n';
    }
    const std::vector<Item> items = expand(plan, context.lab, settings);
    const Session session = measure_all({text, items, options.out}, context, progress(context));
    if (session.interrupted) return session.status();
    say_if_nothing_was_measured(session, options.device, context);
    const Ceilings ceilings = fit_ceilings(session.rows, machine);
    if (options.json)
        print_json(context.out, analysis::ceilings_json(ceilings, machine));
    else
        context.out << analysis::ceilings_table(ceilings, machine) << '\n' << session.folder.string() << '\n';
    return session.status();
}

}  // namespace

Action calibrate(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.value("--device", options->device);
    grammar.value("--threads", options->threads);
    grammar.flag("--quick", options->quick);
    grammar.value("--out", options->out);
    grammar.flag("--json", options->json);
    return [options](Context& context) { return measure_ceilings(*options, context); };
}

}  // namespace roof
