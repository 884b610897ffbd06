// The profiler that our own launches get: each part's kernels by its layer and phase, whole launches as steps, and what the
// hardware counters say of both.
#pragma once

#include "ert/counters/counter_table.hpp"
#include "ert/cupti/range_profiler.hpp"
#include "ert/method/bench/profiler.hpp"

#include <functional>
#include <memory>

namespace roof::cupti {

/// For devices "gpu:N". Its attach() throws Unsupported where CUPTI is not there.
Profiler step_profiler(const CounterTable& table);

/// The same on a CUPTI that was opened already; `context` tells in which context the launches are.
Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<TimedPart>& parts, std::function<CUcontext()> context = current_context);

}  // namespace roof::cupti
