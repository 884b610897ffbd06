// Kernels of a run, from kernels.csv (a line for each launch): totals by row, device, category and name. The file is
// read line by line, so memory use depends on the number of names, not of launches.
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
    std::string category;   ///< category by the rules
    std::string algorithm;  ///< algorithm of a convolution
    std::string name;
    std::size_t launches = 0;
    double seconds = 0;
};

struct KernelDigest {
    std::vector<KernelTotal> totals;  ///< the most seconds of each row first
    std::size_t launches = 0;         ///< lines read
};

/// The kind of each layer (convolution, linear, …) by its name.
using LayerKinds = std::map<std::string, std::string, std::less<>>;

/// The kinds of the layers in these rows.
LayerKinds layer_kinds(std::span<const Measurement> rows);

/// Sums the launches in `csv`; messages contain `name`. A truncated last line is skipped. Throws InputError for a
/// missing column, a line with too few cells, or a duration that is not a number.
KernelDigest digest_kernels(std::istream& csv, const std::string& name,
                            const KernelRules& rules = built_in_kernel_rules(), const LayerKinds& kinds = {});

/// The digest of a results folder; empty without kernels.csv. `also` is called for each record, so a second use needs
/// no second reading.
KernelDigest digest_kernels(const RecordedFolder& folder, const KernelRules& rules, const LayerKinds& kinds,
                            const TakeRecord<KernelRecord>& also);

}  // namespace roof::analysis
