// Kernels of a run, digested: from kernels.csv in its results folder, one line for each kernel that was launched, to a total for
// each row, device, category and name. The file is read line by line and never held, so a million kernels take the memory of
// their names.
#pragma once

#include "analysis/recordings/kernel_rules.hpp"
#include "ert/base/units.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/record_files.hpp"

#include <cstddef>
#include <filesystem>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct KernelTotal {
    std::string row;  ///< Measurement::id()
    std::string device;
    std::string category;   ///< as the rules say
    std::string algorithm;  ///< of a convolution
    std::string name;
    std::size_t launches = 0;
    double seconds = 0;
};

struct KernelDigest {
    std::vector<KernelTotal> totals;  ///< of each row the most seconds first
    std::size_t launches = 0;         ///< lines read
};

/// What kind each layer is (convolution, linear, …), by its name.
using LayerKinds = std::map<std::string, std::string, std::less<>>;

/// As the rows' parts say.
LayerKinds layer_kinds(std::span<const Measurement> rows);

/// `name` stands in messages. A last line that was cut off is left out. Throws InputError for a missing column, and for a line
/// with too few cells or a duration that is no number.
KernelDigest digest_kernels(std::istream& csv, const std::string& name,
                            const KernelRules& rules = built_in_kernel_rules(), const LayerKinds& kinds = {});

/// Of a results folder; empty if it holds no kernels.csv. `also` is called for every kernel, so that one pass serves two readers.
KernelDigest digest_kernels(const std::filesystem::path& folder, const KernelRules& rules, const LayerKinds& kinds,
                            const TakeRecord<KernelRecord>& also);

}  // namespace roof::analysis
