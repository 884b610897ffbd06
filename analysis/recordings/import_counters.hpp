// Shared by the readers of CPU counters.
#pragma once

#include "analysis/recordings/counted_work.hpp"
#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// A row on the device "cpu" with counted work. Adds what is missing to `imported`. `seconds` is 0 if unknown.
ImportedRow processor_row(const std::string& name, Seconds seconds, const CountedWork& work, Imported& imported);

/// Makes a counter record for the whole row.
CounterRecord step_counter(const std::string& metric, const Metric& value);

}  // namespace roof::analysis
