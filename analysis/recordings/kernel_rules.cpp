#include "analysis/recordings/kernel_rules.hpp"

#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"

#include <algorithm>
#include <array>

/// The bytes of configs/kernels.yaml, embedded by the assembly file that CMakeLists.txt generates.
extern "C" const char roof_kernel_rules_begin[];
extern "C" const char roof_kernel_rules_end[];

namespace roof::analysis {
namespace {

/// Whether `text` matches. Both are in lower case; only `*` is a wildcard.
bool holds(std::string_view text, std::string_view part)
{
    for (std::size_t from = 0;;) {
        const std::size_t star = part.find('*');
        const std::size_t at = text.find(part.substr(0, star), from);
        if (at == std::string_view::npos) return false;
        if (star == std::string_view::npos) return true;
        from = at + star;
        part.remove_prefix(star + 1);
    }
}

bool holds_any(std::string_view text, const std::vector<std::string>& parts)
{
    return std::ranges::any_of(parts, [&](const std::string& part) { return holds(text, part); });
}

struct LowerCaseKernel {
    std::string name, layer, kind, phase;
};

bool fits(const KernelRule& rule, const LowerCaseKernel& kernel)
{
    if (!holds_any(kernel.name, rule.names) || holds_any(kernel.name, rule.without)) return false;
    if (!rule.phases.empty() && std::ranges::find(rule.phases, kernel.phase) == rule.phases.end()) return false;
    return rule.layers.empty() || holds_any(kernel.layer, rule.layers) || holds_any(kernel.kind, rule.layers);
}

const KernelRule* first_that_fits(const std::vector<KernelRule>& rules, const LowerCaseKernel& kernel)
{
    const auto rule = std::ranges::find_if(rules, [&](const KernelRule& r) { return fits(r, kernel); });
    return rule == rules.end() ? nullptr : &*rule;
}

std::vector<std::string> names_of(const YAML::Node& node, const YamlReader& reader)
{
    if (!node.IsSequence()) reader.fail(node, "expected a list: [a, b]");
    std::vector<std::string> words;
    for (const YAML::Node& word : node) {
        words.push_back(in_lower_case(word.as<std::string>()));
        if (words.back().empty()) reader.fail(word, "an empty name fits everything");
    }
    return words;
}

KernelRule rule_of(const YAML::Node& node, const std::string& result, const YamlReader& reader)
{
    reader.check_keys(node, {result, "names", "without", "phases", "layers"}, "key");
    KernelRule rule;
    const std::array<std::pair<const char*, std::vector<std::string> KernelRule::*>, 4> lists{
        {{"names", &KernelRule::names},
         {"without", &KernelRule::without},
         {"phases", &KernelRule::phases},
         {"layers", &KernelRule::layers}}};
    for (const auto& entry : node) {
        const auto key = entry.first.as<std::string>();
        const auto list = std::ranges::find_if(lists, [&](const auto& l) { return key == l.first; });
        if (list != lists.end())
            rule.*list->second = names_of(entry.second, reader);
        else
            rule.result = entry.second.as<std::string>();
    }
    if (rule.result.empty()) reader.fail(node, "a rule without " + result);
    if (rule.names.empty()) reader.fail(node, "a rule without names");
    return rule;
}

}  // namespace

KernelKind KernelRules::kind_of(const NamedKernel& kernel) const
{
    const LowerCaseKernel lower{in_lower_case(kernel.name), in_lower_case(kernel.layer), in_lower_case(kernel.kind),
                                in_lower_case(kernel.phase)};
    const KernelRule* category = first_that_fits(categories, lower);
    if (category == nullptr) return {std::string(no_category), ""};
    const bool convolves = category->result.starts_with("convolution");
    const KernelRule* algorithm = convolves ? first_that_fits(algorithms, lower) : nullptr;
    return {category->result, algorithm == nullptr ? "" : algorithm->result};
}

KernelRules parse_kernel_rules(const std::string& yaml, const std::string& file)
{
    return reading_yaml(file, [&] {
        const YAML::Node root = parse_yaml(yaml, file);
        const YamlReader reader(file);
        reader.check_keys(root, {"categories", "algorithms"}, "key");
        KernelRules rules;
        for (const YAML::Node& rule : root["categories"]) rules.categories.push_back(rule_of(rule, "category", reader));
        for (const YAML::Node& rule : root["algorithms"])
            rules.algorithms.push_back(rule_of(rule, "algorithm", reader));
        return rules;
    });
}

const KernelRules& built_in_kernel_rules()
{
    static const KernelRules rules =
        parse_kernel_rules(std::string(roof_kernel_rules_begin, roof_kernel_rules_end), "configs/kernels.yaml");
    return rules;
}

bool is_collective(std::string_view category)
{
    return category.starts_with("collective");
}

}  // namespace roof::analysis
