// What kernels are for: rules from a YAML file (configs/kernels.yaml explains its grammar) that sort them by name, and where the
// name does not tell, by the phase and the layer that launched them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

inline constexpr std::string_view no_category = "unclassified";

/// One kernel as its row has it; what is not known is empty.
struct NamedKernel {
    std::string_view name;
    std::string_view layer;
    std::string_view kind;  ///< of the layer
    std::string_view phase;
};

struct KernelKind {
    std::string category;   ///< "unclassified" where no rule knows it
    std::string algorithm;  ///< of a convolution; else empty, and where no rule knows it
};

struct KernelRule {
    std::string result;
    std::vector<std::string> names;
    std::vector<std::string> without;
    std::vector<std::string> phases;
    std::vector<std::string> layers;
};

struct KernelRules {
    std::vector<KernelRule> categories;
    std::vector<KernelRule> algorithms;

    KernelKind kind_of(const NamedKernel& kernel) const;
};

/// Throws InputError with file and line for what is no rule, and for a rule without names.
KernelRules parse_kernel_rules(const std::string& yaml, const std::string& file);

/// configs/kernels.yaml, as it was when this was built.
const KernelRules& built_in_kernel_rules();

/// Whether a category is one of several devices working together.
bool is_collective(std::string_view category);

}  // namespace roof::analysis
