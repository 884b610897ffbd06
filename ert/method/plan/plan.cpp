#include "ert/method/plan/plan.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"
#include "ert/method/bench/measurement.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

/// Reads the nodes of one plan. Messages include the file's name.
class Parser : YamlReader {
  public:
    using YamlReader::YamlReader;

    Plan parse(const YAML::Node& root, const std::string& text)
    {
        check_keys(root, plan_keys_, "key of a plan");
        Plan plan;
        plan.source = text;
        if (root["name"]) plan.name = text_of(root["name"], "name");
        if (root["description"]) plan.description = text_of(root["description"], "description");
        plan.quick = root["quick"] && flag(root["quick"], "quick");
        number(root, "rounds", 1, plan.rounds);
        plan.max_rounds = plan.rounds;
        number(root, "max_rounds", plan.rounds, plan.max_rounds);
        number(root, "extra_rounds_until_seconds", 0.0, plan.extra_rounds_until.value);
        number(root, "end_after_seconds", 0.0, plan.end_after.value);
        const StoppingOptions stopping = root["measure"] ? measure(root["measure"], {}) : StoppingOptions{};
        const std::vector<std::string> devices =
            root["device"] ? list_of(root["device"], "device") : std::vector<std::string>{"cpu"};
        const YAML::Node run = root["run"];
        if (!run || !run.IsSequence() || run.size() == 0)
            fail(run ? run : root, "run: a plan needs a list of at least one entry, each with a bench");
        const Profiling profile = root["profile"] ? profiling(root["profile"]) : Profiling::off;
        for (const YAML::Node& node : run) add_entries(plan, node, stopping, devices, profile);
        return plan;
    }

  private:
    std::string text_of(const YAML::Node& node, const std::string& key) const
    {
        if (!node.IsScalar()) fail(node, key + ": one value is expected here");
        return node.as<std::string>();
    }

    /// A value or a list of values. `takes_maps`: a map is a value too, as its text: "{name: small, image: [3, 32,
    /// 32]}".
    std::vector<std::string> list_of(const YAML::Node& node, const std::string& key, bool takes_maps = false) const
    {
        const auto value = [&](const YAML::Node& one) {
            return takes_maps && one.IsMap() ? on_one_line(one) : text_of(one, key);
        };
        if (node.IsScalar() || (takes_maps && node.IsMap())) return {value(node)};
        if (!node.IsSequence() || node.size() == 0) fail(node, key + ": a value or a list of values is expected here");
        std::vector<std::string> list;
        for (const YAML::Node& one : node) list.push_back(value(one));
        return list;
    }

    bool flag(const YAML::Node& node, const std::string& key) const
    {
        const std::string value = text_of(node, key);
        if (value != "true" && value != "false") fail(node, unknown_word(key, value, flags_));
        return value == "true";
    }

    Profiling profiling(const YAML::Node& node) const
    {
        const std::string value = text_of(node, "profile");
        if (value == "steps") return Profiling::steps;
        if (value != "true" && value != "false") fail(node, unknown_word("profile", value, profilings_));
        return value == "true" ? Profiling::kernels : Profiling::off;
    }

    template <class Number>
    void number(const YAML::Node& map, const char* key, Number least, Number& value) const
    {
        constexpr Number most = std::is_integral_v<Number> ? 1'000'000 : 1'000'000'000;
        const YAML::Node node = map[key];
        if (!node) return;
        try {
            value = node.as<Number>();
        } catch (const YAML::Exception&) {
            throw InputError(fmt::format("{}: {}: '{}' is not a {}number", where(node), key,
                                         node.IsScalar() ? printable(node.as<std::string>()) : "…",
                                         std::is_integral_v<Number> ? "whole " : ""));
        }
        if (!(value >= least && value <= most))
            throw InputError(fmt::format("{}: {}: {} is not a legal value; legal values: from {} to {}", where(node),
                                         key, value, least, most));
    }

    StoppingOptions measure(const YAML::Node& node, StoppingOptions options) const
    {
        check_keys(node, measure_keys_, "key of measure");
        number(node, "warmup", 0, options.warmup);
        number(node, "min_samples", 1, options.min_samples);
        number(node, "max_samples", 1, options.max_samples);
        number(node, "interval", 0.0, options.interval);
        number(node, "budget_seconds", 0.0, options.budget.value);
        number(node, "min_seconds", 0.0, options.min_time.value);
        number(node, "max_noise", 0.0, options.max_noise);
        number(node, "sustain_seconds", 0.0, options.sustain.value);
        number(node, "processes", 1, options.processes);
        if (options.max_samples < options.min_samples) {
            throw InputError(fmt::format("{}: measure: max_samples ({}) is less than min_samples ({})", where(node),
                                         options.max_samples, options.min_samples));
        }
        return options;
    }

    void add_entries(Plan& plan, const YAML::Node& node, const StoppingOptions& stopping,
                     const std::vector<std::string>& devices, Profiling profile) const
    {
        if (!node.IsMap()) fail(node, "run: each entry is a map with the key bench");
        PlanEntry entry;
        entry.where = where(node);
        entry.stopping = stopping;
        entry.profile = profile;
        std::vector<std::string> here = devices;
        for (const auto& pair : node) {
            const auto key = pair.first.as<std::string>();
            if (key == "bench") {
                entry.bench = text_of(pair.second, key);
            } else if (key == "device") {
                here = list_of(pair.second, key);
            } else if (key == "measure") {
                entry.stopping = measure(pair.second, stopping);
            } else if (key == "profile") {
                entry.profile = profiling(pair.second);
            } else {
                entry.axes[key] = list_of(pair.second, key, true);
                entry.axis_where[key] = where(pair.first);
            }
        }
        if (entry.bench.empty()) refuse_without_bench(node);
        for (const std::string& device : here) {
            entry.device = device;
            plan.entries.push_back(entry);
        }
    }

    /// Of an entry with a bench, expand() compares the axes with those of the bench.
    [[noreturn]] void refuse_without_bench(const YAML::Node& node) const
    {
        std::vector<std::string> legal{"bench", "device", "measure", "profile"};
        legal.insert(legal.end(), axis_names().begin(), axis_names().end());
        check_keys(node, legal, "key of an entry");
        fail(node, "run: the entry names no bench");
    }

    std::vector<std::string> plan_keys_ = split(
        "name description device measure quick rounds max_rounds extra_rounds_until_seconds end_after_seconds run "
        "profile",
        ' ');
    std::vector<std::string> flags_{"true", "false"};
    std::vector<std::string> profilings_{"true", "false", "steps"};
    std::vector<std::string> measure_keys_ = split(
        "warmup min_samples max_samples interval max_noise budget_seconds min_seconds processes sustain_seconds", ' ');
};

}  // namespace

Plan parse_plan(const std::string& text, const std::string& name)
{
    return reading_yaml(name, [&] { return Parser(name).parse(parse_yaml(text, name), text); });
}

Plan load_plan(const std::filesystem::path& file)
{
    return parse_plan(read_file(file), file.string());
}

}  // namespace roof
