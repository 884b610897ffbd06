// `roof calibrate`: measures the ceilings of this machine by the built-in plan for its kind of device.
#include "analysis/estimate/node_scaling.hpp"
#include "analysis/fleet/digest.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/roofline/row_roofs.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/commands/side_by_side.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"
#include "tools/roof/session/session.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace roof {

namespace {

/// A plan's entry of the ceiling's point, "bench device axis=value …". `set`: the working set, in bytes, of a
/// bandwidth.
std::string entry_of(const Ceiling& ceiling, double set)
{
    const std::vector<std::string> words = split(ceiling.point, ' ');
    std::string text = fmt::format("  - {{bench: {}, device: {}", words.at(0), nlohmann::json(words.at(1)).dump());
    for (const std::string& word : words)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            text += fmt::format(", {}: {}", word.substr(0, equals),
                                word.starts_with("working_set=") ? fmt::format("{:.0f}", set)
                                                                 : nlohmann::json(word.substr(equals + 1)).dump());
    return text + "}\n";
}

/// Repeats what makes the roofs of these devices, each point for six seconds: of each precision the fastest
/// multiply-adds, of memory every loop at the largest set of any, with so many threads (0: with each number). Throws
/// InputError if the ceilings have none.
Plan lasting_plan(const Ceilings& ceilings, const std::vector<std::string>& devices, int threads)
{
    std::map<std::string, double> largest;  // by device
    std::map<std::tuple<std::string, Role, std::string, std::string, int>, const Ceiling*> fastest;
    for (const Ceiling& c : ceilings.all) {
        const bool computes = c.kind == Role::compute && is_multiply_add(c.operation);
        const bool is_memory =
            c.kind == Role::bandwidth && c.level == memory_level && analysis::access_of(c.operation).has_value();
        if (!(computes || is_memory) || !c.condition.empty() || (threads > 0 && c.threads != threads) ||
            !is_in(c.device, devices))
            continue;
        largest[c.device] = std::max(largest[c.device], c.working_set.value);
        const Ceiling*& best = fastest[{c.device, c.kind, c.precision, computes ? "" : c.operation, c.threads}];
        if (best == nullptr || best->rate.median < c.rate.median) best = &c;
    }
    if (fastest.empty())
        throw InputError("--lasting repeats the roofs of a calibration, and this machine has none of " +
                         join(devices, ",") + ": `roof calibrate` first");
    std::string text =
        "name: lasting\ndescription: The roofs of the newest calibration over seconds\n"
        "measure: {warmup: 1, min_samples: 5, max_samples: 20, interval: 0.01, budget_seconds: 0.1, "
        "sustain_seconds: 6}\nrun:\n";
    for (const auto& [key, ceiling] : fastest) text += entry_of(*ceiling, largest[ceiling->device]);
    return parse_plan(text, "calibrate --lasting");
}

constexpr int most_threads = 65536;
constexpr int most_minutes = 24 * 60;

struct CalibrateOptions {
    OptionParser& parser;
    std::string& device = parser.value("--device", "cpu");
    std::string& threads = parser.value("--threads");
    std::string& ranks = parser.value("--ranks");
    std::string& minutes = parser.value("--minutes");
    StoppingWords stopping{parser};
    bool& continues = parser.flag("--continue");
    bool& quick = parser.flag("--quick");
    bool& lasting = parser.flag("--lasting");
    std::string& plan = parser.value("--plan");
    std::string& without = parser.value("--without");
    bool& side_by_side = parser.flag("--side-by-side");
    std::string& out = parser.value("--out");
    std::string& node = parser.value("--node");
    bool& json = parser.flag("--json");
};

Plan plan_of(const std::string& kind, const CalibrateOptions& options)
{
    if (options.plan.empty()) return find_plan("calibrate/" + kind + (options.quick ? "-quick" : ""));
    if (options.quick) throw InputError("--quick and --plan each choose a plan: give one of them");
    return find_plan(options.plan);
}

/// All-reduces between 2, 4, … ranks of this machine, which roof starts itself.
void reduce_in_memory(Plan& plan, int ranks)
{
    std::vector<std::string> paths;
    for (int some = 2; some < ranks; some *= 2) paths.push_back(fmt::format("1x{}", some));
    paths.push_back(fmt::format("1x{}", ranks));
    std::erase_if(plan.entries, [](const PlanEntry& entry) { return entry.bench == "network_pair"; });
    for (PlanEntry& entry : plan.entries) {
        if (entry.bench != "network") continue;
        entry.axes["operation"] = {"allreduce"};
        entry.axes["path"] = paths;
    }
}

/// The plan of the network between the ranks that mpirun or srun started, or else between those that roof starts.
Plan network_plan(const Machine& machine, const CalibrateOptions& options)
{
    std::vector<std::string> nodes = rank_nodes(machine);
    const int ranks = whole_number("--ranks", options.ranks, 2, most_threads);
    Plan plan = plan_of("network", options);
    if (nodes.empty() && options.device == "cpu") {
        reduce_in_memory(plan, ranks);
        nodes.assign(static_cast<std::size_t>(ranks), machine.node);
    }
    if (ranks != static_cast<int>(nodes.size()))
        throw InputError(fmt::format(
            "--ranks {0}: the number of ranks that were started is {1}: mpirun -n {0} roof calibrate --ranks {0}",
            ranks, std::max<std::size_t>(1, nodes.size())));
    for (PlanEntry& entry : plan.entries) entry.device = options.device;
    plan.source += "# between ranks on " + join(nodes, " ") + '\n';
    return plan;
}

/// The device that was asked for; for "gpu" every GPU of this machine, such as "gpu:0,1".
std::string devices_named(const std::string& device, const BenchRegistry& registry)
{
    if (device != "gpu") return device;
    registry.find("bandwidth", "gpu");  // opens the part that knows the GPUs
    std::vector<std::string> numbers;
    for (const Device& one : registry.machine().devices)
        if (one.kind == "gpu") numbers.push_back(one.name.substr(one.name.find(':') + 1));
    if (numbers.empty()) throw InputError("--device gpu: this machine has no GPU; `roof doctor` says why");
    return "gpu:" + join(numbers, ",");
}

std::vector<std::string> benches_without(const CalibrateOptions& options)
{
    return options.without.empty() ? std::vector<std::string>{} : comma_list("--without", options.without);
}

/// For a group such as "gpu:0,1", the plans of its devices one after another, because a group's ceilings are their
/// sums. A GPU that this machine lacks also has a plan; its rows contain the reason.
Plan plan_for(const std::string& device, const Machine& machine, const CalibrateOptions& options)
{
    if (!options.ranks.empty()) return network_plan(machine, options);
    const bool is_gpu = device.starts_with("gpu:");
    const std::string kind = is_gpu ? "gpu" : machine.device(device).kind;
    Plan plan = plan_of(kind, options);
    std::vector<PlanEntry> entries;
    const std::vector<std::string> devices = devices_in(device);
    const std::vector<std::string> without = benches_without(options);
    for (const std::string& one : devices) {
        for (PlanEntry entry : plan.entries) {
            if (is_in(entry.bench, without)) continue;
            entry.device = one;
            const bool is_of_all = entry.bench == "allreduce" && devices.size() > 1;
            if (is_of_all && one != devices.front()) continue;
            if (is_of_all) entry.axes["path"] = {"nccl" + device.substr(device.find(':'))};
            entries.push_back(std::move(entry));
        }
    }
    plan.entries = std::move(entries);
    const auto in_turn = options.side_by_side || options.quick ? 1.0 : static_cast<double>(devices.size());
    plan.extra_rounds_until = plan.extra_rounds_until * in_turn;
    plan.end_after = plan.end_after * in_turn;
    return plan;
}

void warn_if_nothing_was_measured(const Session& session, const std::string& device, Context& context)
{
    const auto measured = [](const Measurement& row) { return row.status == Status::ok; };
    if (session.rows.empty() || std::ranges::any_of(session.rows, measured)) return;
    context.err << "nothing could be measured on " << printable(device) << ": "
                << printable(session.rows.front().reason) << '\n';
}

/// The plan and the options that change it, as kept in the folder. Calibrations with equal texts are comparable.
std::string text_of(const Plan& plan, const CalibrateOptions& options)
{
    std::string text = plan.source + "# on device " + options.device + '\n';
    if (!options.threads.empty()) text += "# with --threads " + options.threads + '\n';
    if (!options.without.empty()) text += "# without " + options.without + '\n';
    if (options.side_by_side) text += "# side by side\n";
    return text;
}

struct Outcome {
    Session session;
    Machine machine;  ///< with the GPUs that measuring has found
    Ceilings ceilings;
    std::optional<analysis::Comparison> drift;  ///< none without an earlier calibration
};

void show_json(const Outcome& outcome, Context& context)
{
    nlohmann::json document = analysis::ceilings_json(outcome.ceilings, context.registry.machine());
    if (const auto points = analysis::messages_in(outcome.session.rows); !points.empty())
        document["network"] = analysis::to_json(analysis::network_table(points));
    document["quality"] = analysis::calibration_quality(outcome.ceilings, outcome.session.rows);
    document["missing_roofs"] = analysis::missing_roofs(outcome.ceilings, outcome.session.rows);
    document["samples"] = analysis::samples_json(outcome.session.rows);
    document["drift"] = outcome.drift ? analysis::drift_json(*outcome.drift) : nlohmann::json();
    print_json(context.out, document);
}

/// The command that goes on with the same plan in the same folder; empty side by side, where no time can be given.
std::string again(const CalibrateOptions& options)
{
    if (options.side_by_side) return {};
    constexpr std::array others{"--quick", "--device",  "--threads", "--ranks",
                                "--plan",  "--without", "--node",    "--out"};
    return printable(shell_line(
        options.parser.given(StoppingWords::names, options.parser.given(others, {"roof", "calibrate", "--continue"}))));
}

/// What more time would bring, by the calibration's own samples: the skipped rows, which come first; else undisturbed
/// samples, first for as few minutes as give each point that lacks some another round, then for ten. `again`: the
/// command that goes on. Empty if nothing is missing, or nothing was measured in this session.
std::string more_time(const Outcome& outcome, const std::string& again)
{
    constexpr int long_time = 10;
    constexpr double seconds_per_minute = 60;
    constexpr int most_times = 8;
    const std::vector<Measurement>& rows = outcome.session.rows;
    const double each = outcome.session.seconds_per_row.value;
    if (each <= 0 || again.empty()) return {};
    if (const auto left = std::ranges::count(rows, Status::skipped, &Measurement::status); left > 0)
        return fmt::format("About {} more would measure the skipped rows: `{} --minutes {:.0f}`.",
                           format_duration(static_cast<double>(left) * each), again,
                           std::ceil(static_cast<double>(left) * each / seconds_per_minute));
    const LowerBounds bounds = lower_bounds(rows, outcome.machine);
    if (bounds.ceilings == 0) return {};
    const double as_long_again = static_cast<double>(bounds.rounds) * each;
    const int least = std::max(1, static_cast<int>(std::ceil(as_long_again / seconds_per_minute)));
    for (const int minutes : {least, long_time}) {
        const int times = std::min(most_times, static_cast<int>(minutes * seconds_per_minute / as_long_again));
        const std::size_t settled = times > 0 ? settled_by_more(rows, outcome.machine, times) : 0;
        if (settled > 0)
            return fmt::format(
                "{} would give about {} of the {} lower bounds enough undisturbed samples: `{} --minutes {}`.",
                analysis::how_many(static_cast<std::size_t>(minutes), "more minute"), settled, bounds.ceilings, again,
                minutes);
    }
    return fmt::format("More time would not settle the {} lower bounds while the machine is as busy as it was.",
                       bounds.ceilings);
}

void show_text(const Outcome& outcome, const std::string& again, Context& context)
{
    const std::string network = analysis::network_text(outcome.session.rows, context.terminal.width);
    context.out << (network.empty()
                        ? analysis::ceilings_text(outcome.ceilings, context.registry.machine(), context.terminal.width)
                        : network)
                << analysis::fitted_lines(analysis::calibration_quality(outcome.ceilings, outcome.session.rows) + "\n",
                                          context.terminal.width)
                << '\n';
    if (const std::string more = more_time(outcome, again); !more.empty())
        context.out << analysis::fitted_lines(more + "\n", context.terminal.width) << '\n';
    context.out << (outcome.drift ? analysis::drift_text(*outcome.drift, context.terminal.width)
                                  : "drift: this machine has no earlier calibration by this plan\n")
                << '\n'
                << outcome.session.folder.string() << '\n';
}

/// Measures what the GPUs do not share, on all of them at once.
decltype(Job::elsewhere) side_by_side(const std::vector<std::string>& devices, const CalibrateOptions& options)
{
    if (!devices.front().starts_with("gpu:") || !options.ranks.empty() || !options.minutes.empty())
        throw InputError("--side-by-side: for GPUs, without --ranks and --minutes");
    constexpr std::array others{"--node", "--plan", "--quick"};
    const SideBySide what{.devices = devices,
                          .arguments = options.parser.given(StoppingWords::names, options.parser.given(others))};
    return [what](const auto& folder, const auto& rows) { return measure_side_by_side(what, folder, rows); };
}

/// The roofs of the newest calibration over seconds, in a folder of their own, where find_sustained() finds them.
int measure_lasting(const CalibrateOptions& options, Context& context)
{
    if (options.quick || options.side_by_side || !options.plan.empty() || !options.ranks.empty() ||
        !options.minutes.empty())
        throw InputError("--lasting: without --quick, --plan, --ranks, --minutes and --side-by-side");
    const std::vector<std::string> devices = devices_in(devices_named(options.device, context.registry));
    const Machine machine = machine_named(options.node, context);
    const Results known = calibration_in(context.results / machine.name, context, &machine).value_or(Results{});
    const int threads = options.threads.empty() ? 0 : whole_number("--threads", options.threads, 1, most_threads);
    Plan plan = lasting_plan(fit_ceilings(known.rows, machine), devices, threads);
    apply(options.stopping, plan);
    const Job job{text_of(plan, options), Scheduler(plan, context.registry), options.out, {}, options.node,
                  options.continues};
    const Session session = measure_all(job, context, progress(context));
    if (session.interrupted) return session.status();
    const analysis::DataTable table =
        analysis::sustained_table(open_with_calibration(session.folder, known.folder, context));
    if (options.json)
        print_json(context.out, {{"lasting", analysis::to_json(table)}});
    else
        context.out << analysis::to_text(table, context.terminal.width) << '\n' << session.folder.string() << '\n';
    return session.status();
}

int measure_ceilings(const CalibrateOptions& options, Context& context)
{
    const std::string device = devices_named(options.device, context.registry);
    for (const std::string& bench : benches_without(options))
        if (const auto known = context.registry.bench_names(); !is_in(bench, known))
            throw InputError("--without: " + unknown_word("bench", bench, known));
    Plan plan = plan_for(device, machine_named(options.node, context), options);
    apply(options.stopping, plan);
    const std::string text = text_of(plan, options);
    Settings settings;
    if (!options.threads.empty())
        settings["threads"] = {std::to_string(whole_number("--threads", options.threads, 1, most_threads))};
    Scheduler scheduler(plan, context.registry, settings);
    const bool is_timed = !options.minutes.empty();
    if (is_timed || options.continues)
        scheduler.grant({is_timed ? 60.0 * whole_number("--minutes", options.minutes, 1, most_minutes) : 0});
    Job job{text, scheduler, options.out, {}, options.node, options.continues};
    const std::vector<std::string> devices = devices_in(device);
    if (options.side_by_side) job.elsewhere = side_by_side(devices, options);
    Outcome outcome{measure_all(job, context, progress(context)), {}, {}, {}};
    const Session& session = outcome.session;
    if (session.interrupted) {
        const Ceilings so_far = fit_ceilings(session.rows, context.registry.machine());
        context.err << analysis::fitted_lines(analysis::calibration_quality(so_far, session.rows) + "\n",
                                              context.messages.width);
        return session.status();
    }
    if (options.side_by_side) remove_parts(session.folder, devices);
    warn_if_nothing_was_measured(session, options.device, context);
    outcome.machine = machine_named(options.node, context);
    outcome.ceilings = ceilings_of_looks(session, options.out, outcome.machine, context);
    const Results now{session.folder, outcome.machine, text, session.rows};
    analysis::keep_digest(now);
    outcome.drift = drift_since_last(now, scheduler, context);
    if (options.json)
        show_json(outcome, context);
    else
        show_text(outcome, again(options), context);
    return session.status();
}

}  // namespace

Action calibrate(OptionParser& parser)
{
    return [options = CalibrateOptions{parser}](Context& context) {
        return options.lasting ? measure_lasting(options, context) : measure_ceilings(options, context);
    };
}

}  // namespace roof
