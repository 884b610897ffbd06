// A file of another tool, converted to the project's records and units. Each measured program or region becomes a row.
#pragma once

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

}  // namespace roof::analysis
