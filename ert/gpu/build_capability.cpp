// Alone in its file: programs on emulated GPUs have another definition.
#include "ert/gpu/probes/device_facts.hpp"

int roof::gpu::oldest_capability()
{
    return ROOF_CUDA_OLDEST;
}
