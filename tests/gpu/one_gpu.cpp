// The GPU of the fake NVML, which a test may take away or slow down.
#include "tests/fakes/nvml/gpu.hpp"

namespace roof::fakes::nvml {

std::vector<nvmlDevice_st>& gpus()
{
    static std::vector<nvmlDevice_st> only{{.bus_id = "00000000:01:00.0",
                                            .megahertz = 1755,
                                            .memory_megahertz = 2619,
                                            .celsius = 54,
                                            .milliwatts = 312'500,
                                            .instant_milliwatts = 655'250,
                                            .limit_milliwatts = 700'000,
                                            .millijoules = [] { return 123'456'789ULL; },
                                            .reasons = 0x24,
                                            .memory_bytes = 80ULL << 30,
                                            .free_bytes = 79ULL << 30}};
    return only;
}

const char* driver()
{
    return "580.159.04";
}

}  // namespace roof::fakes::nvml

extern "C" void fake_nvml_lose_gpu(bool is_lost)
{
    roof::fakes::nvml::gpus().front().is_lost = is_lost;
}

extern "C" void fake_nvml_slow_for(int looks)
{
    roof::fakes::nvml::gpus().front().slow_looks = looks;
}
