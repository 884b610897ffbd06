// Imports a file of another tool into a results folder, which `roof report` and `roof compare` read like any other. The file is converted
// to the project's records and units. Each measured program or region becomes a row.
#pragma once

#include "analysis/recordings/counted_work.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/records.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct ImportedRow {
    /// Empty estimates and 0 FLOPs or bytes mean: unknown.
    Measurement measurement;
    std::vector<KernelRecord> kernels{};
    std::vector<ApiRecord> calls{};
    std::vector<CopyRecord> copies{};
    std::vector<MemoryRecord> memory{};
    std::vector<SynchronisationRecord> waits{};
    std::vector<RangeRecord> ranges{};
    std::vector<CounterRecord> counters{};
};

struct Imported {
    std::string format;  ///< "Nsight Compute, details page"
    std::vector<Device> devices;
    std::vector<ImportedRow> rows;
    std::vector<std::string> missing;  ///< sentences about data it lacks for a point on a roofline
    std::vector<std::string> remarks;  ///< sentences about the meaning of its numbers
};

/// The format is recognized by content. The row is named after the file unless `row` is given. Throws InputError for
/// an unknown format, and for a malformed or truncated file with line, byte or table.
Imported import_file(const std::filesystem::path& file, const std::string& row = "");

/// Writes machine.yaml, plan.yaml, measurements.csv and the recorded files that have records. `machine` is the name of
/// the machine of the files. Throws InputError if the folder has another import, and for two rows of one name.
void write_import(const std::filesystem::path& folder, const std::vector<Imported>& files, const std::string& machine);

// Shared by the readers (imported.cpp).

/// The row of a program that another tool measured.
ImportedRow imported_row(const std::string& name, const std::string& device);
/// Sets the row's work to what was counted: FLOPs with their precision, of several the one of most, and the bytes at DRAM where they are
/// known.
void set_work(Measurement& row, const CountedWork& work);
/// Of several precisions a remark has the FLOPs of each.
void remark_on_precisions(const CountedWork& work, Imported& imported);
/// A row on the device "cpu" with counted work. Adds what is missing to `imported`. `seconds` is 0 if unknown.
ImportedRow processor_row(const std::string& name, Seconds seconds, const CountedWork& work, Imported& imported);

/// Makes a counter record for the whole row.
CounterRecord step_counter(const std::string& metric, const Metric& value);

std::optional<Bytes> bytes_of(Number count);
/// The kind of memory that a text of Nsight or PyTorch names: "Pageable", "Managed Static"; none if there is none.
std::optional<MemoryKind> memory_in(std::string_view text);

/// Adds a timeline, a row for each device of its kernels, copies and counters, whose `models` are known by name. Attributes phases, shifts the first start to zero, and sets the row's time: the median of its marked steps, or the time from the first record to
/// the last. Lists what a timeline lacks for a point on a roofline.
void add_timeline(ImportedRow row, const std::map<std::string, std::string>& models, Imported& imported);

/// Gives each row the FLOPs of its counters, which are of the whole recording; where it marks steps they are a remark alone.
void add_counted_flops(Imported& imported);

// The formats. Each is recognized by content. Each reader throws InputError with line, byte or table for a malformed or
// truncated file. Messages contain `name`; `row` becomes the name of the row in the results.

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
