#include "tools/roof/session/plans.hpp"

#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/binary/binary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace roof {
namespace {

constexpr std::string_view folder = "configs/";
constexpr std::string_view machines = "configs/machines/";  ///< spec sheets, not plans
constexpr std::string_view ending = ".yaml";

bool is_plan(const EmbeddedText& file)
{
    return file.path.starts_with(folder) && !file.path.starts_with(machines) && file.path.ends_with(ending);
}

std::string name_of(const EmbeddedText& file)
{
    return std::string(file.path.substr(folder.size(), file.path.size() - folder.size() - ending.size()));
}

constexpr double unlimited_seconds = 1e9;

StoppingOptions stopping_for(int steps)
{
    constexpr int processes = 6;
    if (steps == 0)
        return {.warmup = 2,
                .min_samples = 6,
                .max_samples = 200,
                .interval = 0,
                .budget = Seconds{10},
                .processes = processes};
    const int timed = steps == 1 ? 1 : steps - 1;
    constexpr int fewest_of_interval = 6;
    return {.warmup = steps - timed,
            .min_samples = timed,
            .max_samples = timed,
            .interval = 0,
            .budget = Seconds{unlimited_seconds},
            .processes = timed < fewest_of_interval ? 1 : processes};
}

// Quoted as JSON, which YAML also accepts, so any text is preserved.
std::string to_yaml(const Plan& plan, const PlanEntry& entry)
{
    const auto quoted = [](const auto& value) { return nlohmann::json(value).dump(); };
    const StoppingOptions& s = entry.stopping;
    std::string text = fmt::format("name: {}\ndescription: {}\n", plan.name, quoted(plan.description));
    text += fmt::format(
        "measure: {{warmup: {}, min_samples: {}, max_samples: {}, interval: {}, budget_seconds: {}, processes: "
        "{}{}{}}}\n",
        s.warmup, s.min_samples, s.max_samples, s.interval, s.budget.value, s.processes,
        s.min_time.value > 0 ? fmt::format(", min_seconds: {}", s.min_time.value) : "",
        s.max_noise > 0 ? fmt::format(", max_noise: {}", s.max_noise) : "");
    text += fmt::format("run:\n  - bench: {}\n    device: {}\n", entry.bench, quoted(entry.device));
    if (s.sustain.value > 0) text += fmt::format("    measure: {{sustain_seconds: {}}}\n", s.sustain.value);
    if (entry.profile != Profiling::off)
        text += fmt::format("    profile: {}\n", entry.profile == Profiling::kernels ? "true" : "steps");
    for (const auto& [axis, values] : entry.axes) text += fmt::format("    {}: {}\n", axis, quoted(values));
    return text;
}

StoppingOptions with_words(StoppingOptions options, const StoppingWords& words)
{
    constexpr int most = 1'000'000;
    const auto number = [](const char* option, const std::string& text, double highest) {
        const auto value = parse_number<double>(text);
        if (value && *value > 0 && *value <= highest) return *value;
        throw InputError(fmt::format("{}: '{}' is not a number above 0, at most {:g}", option, text, highest));
    };
    if (!words.warmup.empty()) options.warmup = whole_number("--warmup", words.warmup, 0, most);
    if (!words.samples.empty())
        options.min_samples = options.max_samples = whole_number("--samples", words.samples, 1, most);
    if (!words.min_time.empty()) options.min_time = {number("--min-time", words.min_time, most)};
    if (!words.max_noise.empty()) options.max_noise = number("--max-noise", words.max_noise, 1);
    if (!words.timeout.empty()) options.budget = {number("--timeout", words.timeout, most)};
    return options;
}

}  // namespace

std::string plan_of(const Item& item)
{
    Plan plan;
    plan.name = "run";
    PlanEntry entry;
    entry.bench = item.bench_name;
    entry.device = item.device;
    entry.stopping = item.stopping;
    const Point point = item.point.without("round");
    for (const auto& [axis, value] : point.values()) entry.axes[axis] = {value};
    return to_yaml(plan, entry);
}

std::vector<std::string> built_in_plans()
{
    std::vector<std::string> names;
    for (const EmbeddedText& file : embedded_texts())
        if (is_plan(file)) names.push_back(name_of(file));
    return names;
}

Plan find_plan(const std::string& file_or_name)
{
    if (std::filesystem::exists(file_or_name)) return load_plan(file_or_name);
    for (const EmbeddedText& file : embedded_texts())
        if (is_plan(file) && name_of(file) == file_or_name)
            return parse_plan(std::string(file.text), std::string(file.path));
    throw InputError(fmt::format("there is no file '{}'; {}", file_or_name,
                                 unknown_word("built-in plan", file_or_name, built_in_plans())));
}

std::vector<std::string> trained_values(const BenchRegistry& registry, std::string_view option)
{
    std::vector<std::string> values;
    for (const auto& bench : registry.benches()) {
        const std::vector<Axis> axes = bench->axes(registry.machine());
        if (!is_in("model", axes, &Axis::name)) continue;
        for (const Axis& axis : axes)
            for (const std::string& value : axis.allowed)
                if (option_of(axis.name) == option) add_once(values, value);
    }
    return values;
}

std::string option_of(std::string_view axis)
{
    std::string option = "--" + std::string(axis);
    std::ranges::replace(option, '_', '-');
    return option;
}

std::map<std::string, std::string*> axis_options(OptionParser& parser)
{
    std::map<std::string, std::string*> options;
    for (const auto& [axis, usual] : {std::pair{"precision", "fp32"},
                                      {"algorithm", ""},
                                      {"data", "synthetic"},
                                      {"parameters", "random"},
                                      {"lr", ""},
                                      {"optimizer", ""},
                                      {"tokens", ""},
                                      {"phase", ""},
                                      {"threads", ""},
                                      {"ranks", ""},
                                      {"scaling", ""},
                                      {"communication", ""},
                                      {"bucket_mb", ""},
                                      {"batch_norm", ""}})
        options[axis] = &parser.value(option_of(axis), usual);
    return options;
}

void apply(const StoppingWords& words, Plan& plan)
{
    for (PlanEntry& entry : plan.entries) entry.stopping = with_words(entry.stopping, words);
    if (const std::vector<std::string> given = words.parser.given(StoppingWords::names); !given.empty())
        plan.source += (plan.source.ends_with('\n') ? "# with " : "\n# with ") + join(given, " ") + '\n';
}

int steps_of(const TrainOptions& options)
{
    constexpr int most = 1'000'000;
    return options.steps.empty() ? 0 : whole_number("--steps", options.steps, 1, most);
}

Plan train_plan(const TrainOptions& options)
{
    PlanEntry entry;
    entry.bench = "train";
    entry.device = options.device;
    if (!options.steps.empty() && !(options.stopping.samples + options.stopping.warmup).empty())
        throw InputError("--steps N is a warm-up and N - 1 samples: give it, or --warmup and --samples");
    entry.stopping = with_words(stopping_for(steps_of(options)), options.stopping);
    if (!options.sustain.empty())
        entry.stopping.sustain = Seconds{static_cast<double>(whole_number("--sustain", options.sustain, 1, 3600))};
    entry.where = "command line";
    entry.profile = options.profile ? Profiling::kernels : options.profile_steps ? Profiling::steps : Profiling::off;
    // A network in braces has commas of its own.
    entry.axes["model"] =
        options.model.starts_with('{') ? std::vector{options.model} : comma_list("MODEL", options.model);
    if (!options.batch.empty()) entry.axes["batch"] = comma_list("--batch", options.batch);
    // Not split at commas: the path of a folder may contain them.
    for (const auto& [axis, text] : options.axes)
        if (!text->empty()) entry.axes[axis] = axis == "data" ? std::vector{*text} : comma_list(option_of(axis), *text);
    if (options.no_graph) entry.axes["graph"] = {"off"};
    if (options.deterministic) entry.axes["deterministic"] = {"on"};
    Plan plan;
    plan.name = "run";
    plan.description = "training steps of " + options.model + ", as given on the command line";
    plan.source = to_yaml(plan, entry);
    plan.entries = {std::move(entry)};
    return plan;
}

}  // namespace roof
