#include "tools/roof/programs/simulation.hpp"

#include <valgrind/callgrind.h>

namespace roof {

std::string missing_simulator()
{
    return {};
}

bool under_simulator()
{
    return RUNNING_ON_VALGRIND != 0;
}

void launch_for_simulator(Subject& subject, std::size_t parts)
{
    const Clock still = [] { return Seconds{}; };
    CALLGRIND_START_INSTRUMENTATION;
    Trace filling(still, parts);
    subject.launch(filling);
    std::string name;
    const PartListener listener{[&](std::size_t part) {
                                    name = "part " + std::to_string(part);
                                    CALLGRIND_ZERO_STATS;
                                },
                                [&] { CALLGRIND_DUMP_STATS_AT(name.c_str()); }};
    Trace counted(still, parts);
    counted.set_listener(&listener);
    subject.launch(counted);
    CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace roof
