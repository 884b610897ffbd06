#include "ert/counters/counter_table.hpp"

#include "ert/base/yaml_text.hpp"

#include <algorithm>

/// The bytes of the file, from the assembly that CMakeLists.txt writes.
extern "C" const char roof_counter_table_begin[];
extern "C" const char roof_counter_table_end[];

namespace roof {
namespace {

constexpr std::string_view rare = "rare";

template <class Names, class Name>
bool holds(const Names& names, const Name& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_of(const CounterMetric& metric, const ChipFamily& family)
{
    return metric.families.empty() || holds(metric.families, family.name);
}

bool is_in(const CounterMetric& metric, std::string_view set)
{
    return set == "all" || (set == "usual" ? metric.set != rare : metric.set == set);
}

class CounterTableReader : public YamlReader {
  public:
    using YamlReader::YamlReader;

    ChipFamily family(const YAML::Node& node) const
    {
        return {value<std::string>(node, "name"), value<std::vector<int>>(node, "capabilities"),
                value<std::vector<std::string>>(node, "chips"), value<std::map<std::string, int>>(node, "passes")};
    }

    CounterMetric metric(const YAML::Node& node, const std::map<std::string, std::string>& sources) const
    {
        CounterMetric metric{value<std::string>(node, "quantity"), value<std::string>(node, "set"),
                             value<std::string>(node, "metric"), value<double>(node, "factor"),
                             value<std::string>(node, "source")};
        const auto source = sources.find(metric.source);
        if (source == sources.end()) fail(node, "the table has no source '" + metric.source + "'");
        metric.source = source->second;
        if (node["families"]) metric.families = value<std::vector<std::string>>(node, "families");
        return metric;
    }

    /// Throws for an unknown family, and for a metric that a family would have twice.
    void check(const YAML::Node& at, const CounterTable& table, const CounterMetric& metric) const
    {
        for (const std::string& name : metric.families) {
            const auto named = [&](const ChipFamily& family) { return family.name == name; };
            if (std::none_of(table.families.begin(), table.families.end(), named))
                fail(at, "the table has no family '" + name + "'");
        }
        for (const CounterMetric& other : table.metrics)
            for (const ChipFamily& family : table.families)
                if (other.metric == metric.metric && is_of(other, family) && is_of(metric, family))
                    fail(at, "'" + metric.metric + "' is counted twice on " + family.name);
    }
};

CounterTable table_in(const std::string& text, const std::string& name)
{
    const CounterTableReader reader(name);
    const YAML::Node root = parse_yaml(text, name);
    CounterTable table;
    table.cupti = reader.value<int>(root, "cupti");
    const auto sources = reader.value<std::map<std::string, std::string>>(root, "sources");
    for (const YAML::Node& node : reader.value<YAML::Node>(root, "families"))
        table.families.push_back(reader.family(node));
    for (const YAML::Node& node : reader.value<YAML::Node>(root, "metrics")) {
        const CounterMetric metric = reader.metric(node, sources);
        reader.check(node, table, metric);
        table.metrics.push_back(metric);
    }
    return table;
}

}  // namespace

const ChipFamily* CounterTable::family_of_chip(std::string_view chip) const
{
    for (const ChipFamily& family : families)
        if (holds(family.chips, chip)) return &family;
    return nullptr;
}

std::vector<CounterMetric> CounterTable::metrics_of(const ChipFamily& family, std::string_view set) const
{
    std::vector<CounterMetric> chosen;
    for (const CounterMetric& metric : metrics)
        if (is_of(metric, family) && is_in(metric, set)) chosen.push_back(metric);
    return chosen;
}

CounterTable read_counter_table(const std::string& text, const std::string& name)
{
    return reading_yaml(name, [&] { return table_in(text, name); });
}

const CounterTable& built_in_counter_table()
{
    static const CounterTable table = read_counter_table(std::string(roof_counter_table_begin, roof_counter_table_end),
                                                         "configs/counters/nvidia.yaml");
    return table;
}

}  // namespace roof
