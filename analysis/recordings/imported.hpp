// What another tool's file holds, in our records and units: a row of results for each program or region it measured.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/records.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

struct ImportedRow {
    /// Its id is made from this: bench, device and point. Empty estimates and 0 FLOPs or bytes: the file does not say.
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
    std::vector<std::string> missing;  ///< what it lacks for a point on a roofline, each a sentence
    std::vector<std::string> remarks;  ///< what a reader of its numbers must know, each a sentence
};

}  // namespace roof::analysis
