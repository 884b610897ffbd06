// The profiler that our own launches get: each part's kernels by its layer and phase, whole launches as steps, and what the
// hardware counters say of both.
#pragma once

#include "ert/counters/counter_table.hpp"
#include "ert/cupti/library.hpp"
#include "ert/method/profiler.hpp"

#include <memory>

namespace roof::cupti {

/// For devices "gpu:N". Its attach() throws Unsupported where CUPTI is not there.
Profiler step_profiler(const CounterTable& table);

/// The same on a CUPTI that was opened already.
Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<Part>& parts);

}  // namespace roof::cupti
