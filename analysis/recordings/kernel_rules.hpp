// Rules that sort kernels into categories by name, phase and layer. configs/kernels.yaml explains their grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

inline constexpr std::string_view no_category = "unclassified";

/// A kernel and the layer and phase that launched it; unknown fields are empty.
struct NamedKernel {
    std::string_view name;
    std::string_view layer;
    std::string_view kind;  ///< the kind of the layer
    std::string_view phase;
};

struct KernelKind {
    std::string category;   ///< "unclassified" if no rule fits
    std::string algorithm;  ///< algorithm of a convolution; empty if no rule fits
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

/// Throws InputError with file and line for a malformed rule and for a rule without names.
KernelRules parse_kernel_rules(const std::string& yaml, const std::string& file);

const KernelRules& built_in_kernel_rules();

bool is_collective(std::string_view category);

}  // namespace roof::analysis
