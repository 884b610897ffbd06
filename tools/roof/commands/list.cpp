// `roof list`: the models, benches, plans and devices of this binary on this machine, and the metrics of GPUs.
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/counters/counter_table.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/session/plans.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

using nlohmann::json;

struct ListOptions {
    OptionParser& parser;
    std::string& kind = parser.value("KIND");
    bool& json = parser.flag("--json");
};

std::string allowed_text(const Axis& axis)
{
    std::string others;
    for (const std::string_view ending : axis.file_endings) others += fmt::format(", FILE{}", ending);
    if (!axis.text_meaning.empty()) others += ", or " + axis.text_meaning;
    if (axis.takes_map) others += ", or {name: …, image: …, layers: …} in a plan";
    if (!axis.allowed.empty()) return join(axis.allowed, ", ") + others;
    return axis.numeric ? fmt::format("{} to {}", axis.min, axis.max) : "any text";
}

std::string defaults_text(const Axis& axis)
{
    if (axis.optional) return "left out, which means " + axis.defaults.front();
    constexpr std::size_t most_shown = 8;
    if (axis.defaults.size() <= most_shown) return join(axis.defaults, ", ");
    return fmt::format("{} values from {} to {}", axis.defaults.size(), axis.defaults.front(), axis.defaults.back());
}

json benches(const BenchRegistry& registry)
{
    const auto axis_json = [](const Axis& axis) -> json {
        return {{"name", axis.name},
                {"meaning", axis.meaning},
                {"allowed", allowed_text(axis)},
                {"defaults", defaults_text(axis)}};
    };
    return mapped(registry.benches(), [&](const auto& bench) -> json {
        return {{"name", bench->name()},
                {"device_kind", bench->device_kind()},
                {"role", name(bench->role())},
                {"description", bench->description()},
                {"axes", mapped(bench->axes(registry.machine()), axis_json)}};
    });
}

json plans(const BenchRegistry&)
{
    return mapped(built_in_plans(), [](const std::string& plan) -> json {
        return {{"name", plan}, {"description", find_plan(plan).description}};
    });
}

json devices(const BenchRegistry& registry)
{
    registry.open_all();
    return mapped(registry.machine().devices, [](const Device& device) -> json {
        return {{"name", device.name}, {"description", device.model}};
    });
}

json counters(const BenchRegistry&)
{
    const CounterTable& table = built_in_counter_table();
    const auto metric_json = [](const CounterMetric& metric) -> json {
        return {{"metric", metric.metric},
                {"quantity", metric.quantity},
                {"factor", metric.factor},
                {"source", metric.source}};
    };
    const auto capability = [](int number) { return fmt::format("{}.{}", number / 10, number % 10); };
    return mapped(table.families, [&](const ChipFamily& family) -> json {
        const std::vector<CounterMetric> metrics = table.metrics_of(family, "all");
        return {{"name", family.name},
                {"description", join(mapped(metrics, &CounterMetric::metric), ",")},
                {"chips", family.chips},
                {"compute_capabilities", mapped(family.capabilities, capability)},
                {"metrics", mapped(metrics, metric_json)}};
    });
}

struct Listing {
    const char* name;
    json (*collect)(const BenchRegistry&);
    bool is_long = false;  ///< printed only if it is asked for
};
constexpr Listing kinds[] = {
    {"models", [](const BenchRegistry& registry) -> json { return trained_values(registry, "--model"); }},
    {"benches", benches},
    {"plans", plans},
    {"devices", devices},
    {"counters", counters, true}};

std::string text_of(const json& entry)
{
    const auto word = [](const json& of, const char* key) { return of[key].get<std::string>(); };
    if (entry.is_string()) return entry.get<std::string>() + '\n';
    if (entry.contains("axes")) {
        std::string text = fmt::format("{} ({}, {}): {}\n", word(entry, "name"), word(entry, "device_kind"),
                                       word(entry, "role"), word(entry, "description"));
        for (const json& axis : entry["axes"])
            text += fmt::format("    {:<12} {}: {}; usually {}\n", word(axis, "name"), word(axis, "meaning"),
                                word(axis, "allowed"), word(axis, "defaults"));
        return text;
    }
    if (entry.contains("chips"))
        return fmt::format("{} {}: {}\n", word(entry, "name"),
                           join(entry["compute_capabilities"].get<std::vector<std::string>>(), " "),
                           word(entry, "description"));
    return fmt::format("{:<22} {}\n", word(entry, "name"), word(entry, "description"));
}

int show(const ListOptions& options, Context& context)
{
    json all = json::object();
    for (const Listing& kind : kinds)
        if (options.kind.empty() ? !kind.is_long : options.kind == kind.name)
            all[kind.name] = kind.collect(context.registry);
    if (all.empty()) throw InputError("list: " + unknown_word("list", options.kind, names_in(kinds)));
    if (options.json) {
        print_json(context.out, all);
        return 0;
    }
    for (const Listing& kind : kinds) {  // models first
        if (!all.contains(kind.name)) continue;
        if (options.kind.empty()) context.out << kind.name << ":\n";
        for (json& entry : all[kind.name]) {
            if (options.kind.empty() && entry.is_object()) entry.erase("axes");  // `roof list benches` has them
            context.out << in_window((options.kind.empty() ? "  " : "") + text_of(entry), context.terminal);
        }
    }
    return 0;
}

}  // namespace

Action list(OptionParser& parser)
{
    return [options = ListOptions{parser}](Context& context) { return show(options, context); };
}

}  // namespace roof
