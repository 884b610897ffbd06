// roof_gpu.so on the emulated device, for tests alone: the real part, marked.
#include "tests/emulated_gpu/parts/marked.hpp"

namespace roof::emulated {
extern "C" void roof_add_real_part(BenchRegistry& registry);
}

extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    roof::emulated::add_marked(registry, roof::emulated::roof_add_real_part);
}
