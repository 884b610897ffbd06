// `roof health`: measures this node for a few seconds, and tells in one line whether it is like its fleet.
#include "analysis/fleet/health.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/commands/side_by_side.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/session/plans.hpp"
#include "tools/roof/session/session.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr int most_seconds = 3600;

struct HealthOptions {
    OptionParser& parser;
    std::string& reference = parser.required("--reference");
    std::string& device = parser.value("--device");
    std::string& plan = parser.value("--plan");
    std::string& seconds = parser.value("--seconds", "15");
    std::string& node = parser.value("--node");
    std::string& prolog = parser.value("--prolog");
    bool& prometheus = parser.flag("--prometheus");
    bool& json = parser.flag("--json");
};

/// "cpu", "gpu:0", …: those asked for, or all that there are.
std::vector<std::string> devices_of(const HealthOptions& options, const BenchRegistry& registry)
{
    const std::vector<std::string> kinds =
        options.device.empty() ? std::vector<std::string>{"cpu", "gpu"} : comma_list("--device", options.device);
    std::vector<std::string> devices;
    for (const std::string& kind : kinds) {
        if (kind != "cpu" && kind != "gpu") throw InputError("--device '" + kind + "' is neither cpu nor gpu");
        if (kind == "gpu") registry.find("bandwidth", "gpu");  // opens the part that knows the GPUs
        for (const Device& device : registry.machine().devices)
            if (device.kind == kind) devices.push_back(device.name);
    }
    return devices;
}

struct Measuring {
    const HealthOptions& options;
    int seconds;
    const fs::path& scratch;
    Context& context;

    /// One digest of the CPU if `with_cpu`, one of all `gpus`; those that could be made.
    std::vector<analysis::Digest> digests(bool with_cpu, const std::vector<std::string>& gpus, TimeLimit& limit) const
    {
        std::vector<analysis::Digest> made;
        if (with_cpu) add_cpu(made);
        if (gpus.empty()) return made;
        limit.forwards = true;
        add_gpus(gpus, made);
        limit.forwards = false;
        return made;
    }

    void add_cpu(std::vector<analysis::Digest>& made) const
    {
        constexpr double share = 0.5;  // of the time; the GPUs have the rest
        Plan plan = find_plan(options.plan.empty() ? "calibrate/cpu-quick" : options.plan);
        const Seconds most{share * seconds};
        plan.end_after = plan.end_after.value > 0 ? std::min(plan.end_after, most) : most;
        const Session session = measure_all(
            {plan.source, Scheduler(plan, context.registry, {}), scratch / "cpu", {}, options.node}, context, {});
        add(session.folder, plan.source, session.rows, made);
    }

    void add_gpus(const std::vector<std::string>& gpus, std::vector<analysis::Digest>& made) const
    {
        const std::string plan = options.plan.empty() ? "calibrate/gpu-health" : options.plan;
        constexpr std::array node{"--node"};
        const SideBySide what{.devices = gpus, .arguments = options.parser.given(node, {"--plan", plan})};
        if (const auto rows = measure_side_by_side(what, scratch, {})) add(scratch, plan, *rows, made);
    }

    void add(const fs::path& folder, const std::string& plan, const std::vector<Measurement>& rows,
             std::vector<analysis::Digest>& made) const
    {
        made.push_back(analysis::make_digest({folder, machine_named(options.node, context), plan, rows}));
        if (made.back().ceilings.empty()) made.pop_back();
    }
};

/// A device that this machine lacks, a plan that is not known and a reference without digests are refused as before a
/// measurement: the prolog would let every job run.
int print_prolog(const HealthOptions& options, int seconds, Context& context)
{
    if (options.prolog != "slurm") throw InputError("--prolog '" + options.prolog + "': slurm is the one there is");
    if (analysis::read_fleet(options.reference).digests.empty())
        throw InputError("--reference: there is no digest that can be used in " + options.reference);
    devices_of(options, context.registry);
    if (!options.plan.empty()) find_plan(options.plan);
    constexpr std::array device{"--device"};
    std::vector<std::string> words =
        options.parser.given(device, {program_path().string(), "health", "--reference",
                                      fs::absolute(options.reference).string(), "--seconds", std::to_string(seconds)});
    if (!options.plan.empty())  // slurmd runs it in another folder
        words.insert(words.end(),
                     {"--plan", fs::exists(options.plan) ? fs::absolute(options.plan).string() : options.plan});
    context.out << analysis::health_prolog(shell_line(words), seconds);
    return 0;
}

int check_health(const HealthOptions& options, Context& context)
{
    const int seconds = whole_number("--seconds", options.seconds, 1, most_seconds);
    if (!options.prolog.empty()) return print_prolog(options, seconds, context);
    const auto begin = std::chrono::steady_clock::now();
    const Scratch scratch("roof-health-");
    constexpr int could_not_judge = 2;
    TimeLimit limit(
        seconds, could_not_judge,
        fmt::format("{} is not judged: {} s were over\n", machine_named(options.node, context).node, seconds),
        scratch.path());
    const analysis::Fleet reference = analysis::read_fleet(options.reference);
    const std::vector<std::string> devices = devices_of(options, context.registry);
    std::vector<std::string> gpus;
    std::ranges::copy_if(devices, std::back_inserter(gpus), [](const std::string& d) { return d.starts_with("gpu:"); });
    const bool with_cpu = gpus.size() < devices.size();
    const Machine machine = machine_named(options.node, context);
    std::vector<std::string> kinds;
    if (with_cpu) kinds.push_back(analysis::kind_of(machine, {"cpu"}));
    if (!gpus.empty()) kinds.push_back(analysis::kind_of(machine, gpus));
    const std::optional<analysis::HealthFinding> before = analysis::judge_reference(machine.node, kinds, reference);
    const Measuring measuring{options, seconds, scratch.path(), context};
    analysis::HealthFinding finding =
        before ? *before : analysis::judge_health(measuring.digests(with_cpu, gpus, limit), reference);
    finding.node = machine.node;
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.json)
        print_json(context.out, analysis::health_json(finding, taken));
    else if (options.prometheus)
        context.out << analysis::health_metrics(finding, taken);
    else
        context.out << analysis::health_line(finding) << '\n';
    return analysis::status_of(finding);
}

}  // namespace

Action health(OptionParser& parser)
{
    return [options = HealthOptions{parser}](Context& context) { return check_health(options, context); };
}

}  // namespace roof
