// The profiler of our own launches: kernels with their layer and phase, launches as steps, and counters of both.
#pragma once

#include "ert/counters/counter_table.hpp"
#include "ert/cupti/range_profiler.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/profiler.hpp"

#include <functional>
#include <memory>

namespace roof::cupti {

/// For devices "gpu:N". Its attach() throws Unsupported if CUPTI is missing.
Profiler step_profiler(const CounterTable& table);

/// The same with a CUPTI already opened; `context` returns the context of the launches.
Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<TimedPart>& parts, std::function<CUcontext()> context = current_context);

}  // namespace roof::cupti
