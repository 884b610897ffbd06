// The file formats that can be imported. Each is recognized by content. Each reader throws InputError with line, byte
// or table for a malformed or truncated file. Messages contain `name`; `row` becomes the name of the row in the
// results.
#pragma once

#include "analysis/recordings/imported.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace roof::analysis {

/// `ncu --csv --page details` and `--page raw`, and the output of `ncu --csv`. `text` is the whole file.
bool is_nsight_compute(std::string_view text);
/// The first line "==ERROR== …" of its log, without the mark; empty without one.
std::string error_of_nsight_compute(std::string_view text);
Imported read_nsight_compute(const std::string& text, const std::string& name, const std::string& row);

/// `nsys export --type sqlite`.
bool is_nsight_systems(std::string_view text);
Imported read_nsight_systems(const std::filesystem::path& file, const std::string& row);

/// `torch.profiler`'s export_chrome_trace().
bool is_kineto(std::string_view text);
Imported read_kineto(const std::string& text, const std::string& name, const std::string& row);

/// `print(torch.profiler.profile(…).key_averages().table())`.
bool is_key_averages(std::string_view text);
Imported read_key_averages(const std::string& text, const std::string& name, const std::string& row);

/// `perf stat -j`.
bool is_perf_stat(std::string_view text);
Imported read_perf_stat(const std::string& text, const std::string& name, const std::string& row);

/// `likwid-perfctr -o FILE.csv`.
bool is_likwid(std::string_view text);
Imported read_likwid(const std::string& text, const std::string& name, const std::string& row);

/// The Empirical Roofline Tool's roofline.json: ceilings.
bool is_ert_roofline(std::string_view text);
Imported read_ert_roofline(const std::string& text, const std::string& name, const std::string& row);

}  // namespace roof::analysis
