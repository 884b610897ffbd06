// `roof profile`: runs any program with an injected recorder, and makes a results folder from its GPU activity. Without
// a GPU the processor's events are counted, or on request its caches simulated.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/counters/counter_table.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/counted_program.hpp"
#include "tools/roof/programs/simulated_program.hpp"
#include "tools/roof/reading/study.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace roof {
namespace {

namespace fs = std::filesystem;

struct ProfileOptions {
    OptionParser& parser;
    bool& from_start = parser.flag("--from-start");
    std::string& range = parser.value("--range");
    std::string& after = parser.value("--after");
    std::string& seconds = parser.value("--seconds");
    bool& counters = parser.flag("--counters");
    std::string& metrics = parser.value("--metrics");
    std::string& kernels = parser.value("--kernels");
    bool& simulate = parser.flag("--simulate");
    bool& time_only = parser.flag("--time-only");
    std::string& out = parser.value("--out");
    std::vector<std::string>& program = parser.list("PROGRAM");
};

constexpr int usual_kernels = 2000;
constexpr const char* metrics_file = "metrics.txt";  ///< removed when the program has ended

/// For these, the program is named by the first argument that is a file.
constexpr std::array<std::string_view, 6> interpreters{"python", "python3", "torchrun", "bash", "sh", "env"};

/// "python3 -u train.py --lr 1" -> "train.py".
std::string name_of(const std::vector<std::string>& words)
{
    std::string first = fs::path(words.front()).filename();
    if (std::find(interpreters.begin(), interpreters.end(), first) == interpreters.end()) return first;
    for (std::size_t i = 1; i < words.size(); ++i)  // any text, such as a program in one
        if (!words[i].starts_with('-') && is_there(words[i])) return fs::path(words[i]).filename();
    return first;
}

fs::path injected_library()
{
    try {
        return part_file("roof_inject.so");
    } catch (const Unsupported& missing) {
        throw InputError(std::string(missing.what()) +
                         "; it records programs: build roof where the CUDA toolkit with its CUPTI is");
    }
}

std::string seconds_of(const std::string& option, const std::string& text, const char* usual)
{
    if (text.empty()) return usual;
    if (const auto value = parse_number<double>(text); value && *value >= 0) return text;
    throw InputError("profile: " + option + " takes a time in seconds, not '" + text + "'");
}

/// One line per chip with its metrics. The recorder runs inside other programs and cannot read YAML.
std::string metrics_by_chip(const std::string& set)
{
    std::string lines;
    for (const ChipFamily& family : built_in_counter_table().families) {
        std::string names;
        for (const CounterMetric& metric : built_in_counter_table().metrics_of(family, set))
            names += ' ' + metric.metric;
        if (!names.empty())
            for (const std::string& chip : family.chips) lines += chip + names + '\n';
    }
    if (lines.empty())
        throw InputError("profile: --metrics takes usual, traffic, shared, scalar, tensor, rare or all, not '" + set +
                         "'");
    return lines;
}

struct ToCount {
    std::string metrics{};  ///< as metrics_by_chip() has them; empty: nothing is counted
    int kernels = usual_kernels;
};

ToCount to_count(const ProfileOptions& options)
{
    if (!options.counters && !(options.metrics + options.kernels).empty())
        throw InputError("profile: --metrics and --kernels choose what --counters counts; give it, too");
    ToCount count;
    if (!options.counters) return count;
    if (!options.kernels.empty())
        count.kernels = whole_number("--kernels", options.kernels, 1, std::numeric_limits<int>::max());
    count.metrics = metrics_by_chip(options.metrics.empty() ? "usual" : options.metrics);
    return count;
}

/// Environment variables that make the recorder count. The folder must exist.
std::map<std::string, std::string> counters_for(const ToCount& count, const fs::path& folder)
{
    if (count.metrics.empty()) return {};
    const fs::path file = fs::absolute(folder) / metrics_file;
    write_file(file, count.metrics);
    return {{"ROOF_PROFILE_COUNTERS", file}, {"ROOF_PROFILE_KERNELS", std::to_string(count.kernels)}};
}

std::map<std::string, std::string> variables_for(const ProfileOptions& options, const fs::path& folder)
{
    if (options.from_start && !(options.after + options.seconds).empty())
        throw InputError("profile: --from-start records to the end; --after and --seconds choose an interval");
    const std::string library = injected_library();
    const std::string window = options.from_start ? "whole"
                                                  : seconds_of("--after", options.after, "5") + " " +
                                                        seconds_of("--seconds", options.seconds, "10");
    return {{"CUDA_INJECTION64_PATH", library},
            {"NVTX_INJECTION64_PATH", library},
            {"ROOF_PROFILE_FOLDER", fs::absolute(folder)},
            {"ROOF_PROFILE_WINDOW", window},
            {"ROOF_PROFILE_RANGE", options.range}};
}

/// The plan of the recording. Values are quoted as JSON, which YAML also accepts.
std::string plan_text(const ProfileOptions& options, const char* device)
{
    const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
    return fmt::format("name: profile\ndescription: {}\nrun:\n  - bench: program\n    device: {}\n    model: {}\n",
                       quoted("recorded while it ran: " + shell_line(options.program)), quoted(device),
                       quoted(name_of(options.program)));
}

void print_digest(const fs::path& folder, const std::vector<Measurement>& rows, Context& context)
{
    const analysis::Study study = open_with_calibration(folder, {}, context);
    for (const Measurement& row : rows)
        for (const std::string* text : {&row.reason, &row.remarks})
            if (!text->empty()) context.err << "roof: " << *text << '\n';
    context.err << analysis::recording_text(study, context.messages.width) << folder.string() << '\n';
}

fs::path folder_for(const ProfileOptions& options, const std::string& plan, const Context& context)
{
    if (!options.out.empty()) return options.out;
    say_where_results_are(context);
    return choose_folder(context.results, context.registry.machine(), plan, Scheduler({}));
}

void print_time(const Measurement& row, const Context& context)
{
    context.err << printable(analysis::model_of(row)) << " on cpu\n";
    if (row.seconds.median.value > 0)
        context.err << fmt::format("    {:<10} {} (measured)\n", "time", format_si(row.seconds.median.value, "s"));
}

void print_counted(const fs::path& folder, const Measurement& row, Context& context)
{
    const auto line = [&](const char* what, double value, const char* unit) {
        if (value > 0)
            context.err << fmt::format("    {:<10} {} ({})\n", what, format_si(value, unit), name(row.work.known));
    };
    line("FLOPs", row.work.flops.value, "FLOP");
    line("memory", row.work.compulsory.value, "B");
    if (row.work.known == Known::simulated) {
        const analysis::Study study = open_with_calibration(folder, {}, context);
        const Terminal& terminal = context.messages;
        context.err << '\n'
                    << analysis::recording_text(study, terminal.width) << '\n'
                    << analysis::terminal_roofline(study, terminal.columns, terminal.plain) << '\n';
    }
    if (!row.remarks.empty()) context.err << "    " << row.remarks << '\n';
    context.err << folder.string() << '\n';
}

bool asks_for_gpus(const ProfileOptions& options)
{
    return options.from_start || options.counters ||
           !(options.range + options.after + options.seconds + options.metrics + options.kernels).empty();
}

/// Counts the program by the processor's events, or simulates it where there are none.
CountedProgram run_on_cpu(const ProfileOptions& options, const fs::path& folder, const std::string& missing,
                          Context& context)
{
    const bool counts = why_not_counted(context.registry).empty();
    const std::string name = name_of(options.program);
    if (options.simulate || (!counts && !options.time_only && missing.empty()))
        return simulate_program(options.program, name, folder, simulated_caches(context.registry.machine()),
                                context.clock, context.err, context.messages.live);
    const RunCounted go = [&](std::string& problem) { return run_child(options.program, {}, problem); };
    CountedProgram counted = count_program(context.registry, folder, name, context.clock, go);
    if (!counts && !options.time_only) counted.row.remarks += "; not simulated: " + missing;
    return counted;
}

/// On a machine without a GPU, or with --simulate.
int profile_on_cpu(const ProfileOptions& options, Context& context)
{
    if (asks_for_gpus(options))
        throw InputError(
            "profile: --from-start, --range, --after, --seconds, --counters, --metrics and --kernels are for programs "
            "on a GPU, --simulate and --time-only for those on a CPU");
    if (options.simulate && options.time_only)
        throw InputError("profile: --simulate and --time-only exclude each other");
    const std::string missing = missing_simulation();
    if (options.simulate && !missing.empty()) throw InputError("profile: --simulate: " + missing);
    const std::string plan = plan_text(options, "cpu");
    const fs::path folder = folder_for(options, plan, context);
    RunDirectory run(folder, plan, context.registry.machine());
    say_lacks(run.folder(), context);
    if (!run.done().empty()) throw InputError("profile: '" + folder.string() + "' holds a recording already");
    const CountedProgram counted = run_on_cpu(options, folder, missing, context);
    if (!counted.problem.empty()) {
        context.err << "roof: " << counted.problem << '\n';
        return counted.status;
    }
    print_time(counted.row, context);  // before what can fail
    run.append(counted.row);
    run.close();
    print_counted(folder, counted.row, context);
    return counted.status;
}

int profile_program(const ProfileOptions& options, Context& context)
{
    context.registry.profiler("gpu");  // opens the GPU parts, so that machine.yaml lists the GPUs
    const Machine& machine = context.registry.machine();
    const bool has_gpu = is_in("gpu", machine.devices, &Device::kind);
    if (options.simulate || options.time_only || (!has_gpu && !asks_for_gpus(options)))
        return profile_on_cpu(options, context);
    const ToCount count = to_count(options);
    const std::string plan = plan_text(options, "gpu:0");
    const fs::path folder = folder_for(options, plan, context);
    auto variables = variables_for(options, folder);
    RunDirectory run(folder, plan, machine);
    say_lacks(run.folder(), context);
    if (!run.done().empty()) throw InputError("profile: '" + folder.string() + "' holds a recording already");
    variables.merge(counters_for(count, folder));
    std::string problem;
    const int status = run_child(options.program, variables, problem);
    fs::remove(folder / metrics_file);
    if (!problem.empty()) {
        context.err << "roof: " << problem << '\n';
        return status;
    }
    const std::vector<Measurement> rows = gather_recording(folder, name_of(options.program));
    for (const Measurement& row : rows) run.append(row);
    run.close();
    print_digest(folder, rows, context);
    return status;
}

}  // namespace

Action profile(OptionParser& parser)
{
    return [options = ProfileOptions{parser}](Context& context) { return profile_program(options, context); };
}

}  // namespace roof
