// Programs on emulated GPUs are as if built for all of them (launch_calls.cpp).
#include "ert/gpu/probes/device_facts.hpp"

int roof::gpu::oldest_capability()
{
    return 60;
}
