// A file of another tool, converted to the project's records and units. Each measured program or region becomes a row.
#pragma once

#include "analysis/recordings/counted_work.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/records.hpp"

#include <string>
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

// Shared by the readers (imported.cpp).

/// The row of a program that another tool measured.
ImportedRow imported_row(const std::string& name, const std::string& device);
/// A row on the device "cpu" with counted work. Adds what is missing to `imported`. `seconds` is 0 if unknown.
ImportedRow processor_row(const std::string& name, Seconds seconds, const CountedWork& work, Imported& imported);

/// Makes a counter record for the whole row.
CounterRecord step_counter(const std::string& metric, const Metric& value);

/// Attributes phases, shifts the first start to zero, and sets the row's time: the median of its marked steps, or the
/// time from the first record to the last. Lists in `imported` what a timeline lacks for a point on a roofline.
void complete_timeline(ImportedRow& row, Imported& imported);

}  // namespace roof::analysis
