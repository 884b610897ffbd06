// CUPTI as a part: what the shared object adds to the registry that opened it.
#include "ert/base/error.hpp"
#include "ert/cupti/step_profiler.hpp"
#include "ert/method/bench/bench_registry.hpp"

/// Adds the profiler, whether CUPTI is here, and whether counters may be read.
extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    using namespace roof::cupti;
    roof::Capability capability{"GPU tracing", false, {}, {}};
    try {
        const auto cupti = Cupti::open();
        capability.present = true;
        capability.reason = "CUPTI " + std::to_string(cupti->version()) + ": roof profile, and roof run --profile";
        registry.machine().versions["CUPTI"] = std::to_string(cupti->version());
    } catch (const roof::Error& error) {
        capability.reason = error.what();
    }
    registry.machine().capabilities.push_back(capability);
    registry.machine().capabilities.push_back(counters_capability());
    registry.add(step_profiler(roof::built_in_counter_table()));
}
