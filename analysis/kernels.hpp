// Kernels of a run, digested: from kernels.csv in its results folder, one line for each kernel that was launched, to a total for
// each row, category and name. The file is read line by line and never held, so a million kernels take the memory of their names.
// Columns that are read, by name: id (the row's), name, duration_s (measured). Others are passed over.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct KernelTotal {
    std::string row;       ///< Measurement::id()
    std::string category;  ///< as category_of() says
    std::string name;
    std::size_t launches = 0;
    double seconds = 0;
};

struct KernelDigest {
    std::vector<KernelTotal> totals;  ///< of each row the most seconds first
    std::size_t launches = 0;         ///< lines read
};

/// What a kernel is for, by its name: convolution, matrix product, normalisation, activation, pooling, loss, optimiser, layout,
/// collective, copy or fill; "unclassified" where no rule knows it, which is shown and never spread over the others.
std::string_view category_of(std::string_view kernel);

/// `name` stands in messages. A last line that was cut off is left out. Throws InputError for a missing column, and for a line
/// with too few cells or a duration that is no number.
KernelDigest digest_kernels(std::istream& csv, const std::string& name);

/// Of a results folder; empty if it holds no kernels.csv.
KernelDigest digest_kernels(const std::filesystem::path& folder);

}  // namespace roof::analysis
