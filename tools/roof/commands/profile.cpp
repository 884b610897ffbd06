// `roof profile`: any program, run as it is, with a recorder injected; what its GPUs did becomes a results folder.
#include "analysis/study/recording_tables.hpp"
#include "ert/base/error.hpp"
#include "ert/method/files.hpp"
#include "ert/method/results.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/shell.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/recorded_program.hpp"
#include "tools/roof/reading/calibration.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

namespace roof {
namespace {

namespace fs = std::filesystem;

struct Options {
    bool from_start = false;
    std::string range;
    std::string after;
    std::string seconds;
    std::string out;
    std::vector<std::string> program;
};

/// Interpreters, whose first argument that is a file is the program meant.
constexpr std::array<std::string_view, 6> interpreters{"python", "python3", "torchrun", "bash", "sh", "env"};

/// "python3 -u train.py --lr 1" -> "train.py".
std::string name_of(const std::vector<std::string>& words)
{
    const std::string first = fs::path(words.front()).filename();
    if (std::find(interpreters.begin(), interpreters.end(), first) == interpreters.end()) return first;
    for (std::size_t i = 1; i < words.size(); ++i)
        if (!words[i].starts_with('-') && fs::exists(words[i])) return fs::path(words[i]).filename();
    return first;
}

fs::path injected_library()
{
    std::error_code ignored;
    const fs::path file = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "roof_inject.so";
    if (!fs::exists(file))
        throw InputError("this build has no " + file.filename().string() +
                         ", which records programs: build roof where the CUDA toolkit with its CUPTI is");
    return file;
}

std::string seconds_of(const std::string& option, const std::string& text, const char* usual)
{
    if (text.empty()) return usual;
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && rest == text.data() + text.size() && value >= 0) return text;
    throw InputError("profile: " + option + " takes a time in seconds, not '" + text + "'");
}

std::map<std::string, std::string> variables_for(const Options& options, const fs::path& folder)
{
    if (options.from_start && !(options.after + options.seconds).empty())
        throw InputError("profile: --from-start records to the end; --after and --seconds choose a stretch");
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

/// A plan like any other to those who read it; JSON's quoting is YAML's.
std::string plan_text(const Options& options)
{
    const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
    return fmt::format("name: profile\ndescription: {}\nrun:\n  - bench: program\n    device: gpu:0\n    model: {}\n",
                       quoted("recorded while it ran: " + shell_line(options.program)),
                       quoted(name_of(options.program)));
}

void print_digest(const fs::path& folder, const std::vector<Measurement>& rows, Context& context)
{
    const analysis::Study study = open_with_calibration(folder, {}, context);
    for (const Measurement& row : rows)
        for (const std::string* text : {&row.reason, &row.remarks})
            if (!text->empty()) context.err << "roof: " << *text << '\n';
    context.err << analysis::recording_text(study, context.terminal.width) << folder.string() << '\n';
}

int profile_program(const Options& options, Context& context)
{
    context.lab.profiler("gpu");  // the recording's machine is to have its GPUs
    const Machine& machine = context.lab.machine();
    const std::string plan = plan_text(options);
    const fs::path folder =
        options.out.empty() ? choose_folder(context.results, machine, plan, Agenda({})) : fs::path(options.out);
    const auto variables = variables_for(options, folder);
    RunDirectory run(folder, plan, machine);
    if (!run.done().empty()) throw InputError("profile: '" + folder.string() + "' holds a recording already");
    std::string problem;
    const int status = run_child(options.program, variables, problem);
    if (!problem.empty()) {
        context.err << "roof: " << problem << '\n';
        return status;
    }
    const std::vector<Measurement> rows = gather_recording(folder, name_of(options.program));
    for (const Measurement& row : rows) run.append(row);
    print_digest(folder, rows, context);
    return status;
}

}  // namespace

Action profile(Grammar& grammar)
{
    const auto options = std::make_shared<Options>();
    grammar.flag("--from-start", options->from_start);
    grammar.value("--range", options->range);
    grammar.value("--after", options->after);
    grammar.value("--seconds", options->seconds);
    grammar.value("--out", options->out);
    grammar.words("PROGRAM", options->program);
    return [options](Context& context) { return profile_program(*options, context); };
}

}  // namespace roof
