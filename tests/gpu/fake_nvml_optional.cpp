// Functions that a driver's NVML may lack: each gives what the power's status allows.
struct nvmlDevice_st;

struct nvmlMemory {
    unsigned long long total, free, used;
};

namespace {

template <class Value>
int give(nvmlDevice_st* device, Value* to, Value value);

}  // namespace

extern "C" {

int nvmlDeviceGetPowerUsage(nvmlDevice_st*, unsigned*);

/// The name that newer drivers have for the reasons of a slowdown.
int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, unsigned long long* reasons)
{
    return give(device, reasons, 0x24ULL);
}

int nvmlDeviceGetTemperature(nvmlDevice_st* device, int sensor, unsigned* celsius)
{
    constexpr int invalid_argument = 2;
    const int status = give(device, celsius, 54U);
    return status == 0 && sensor != 0 ? invalid_argument : status;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_st* device, nvmlMemory* memory)
{
    return give(device, memory, nvmlMemory{80ULL << 30, 79ULL << 30, 1ULL << 30});
}
}

namespace {

template <class Value>
int give(nvmlDevice_st* device, Value* to, Value value)
{
    unsigned power = 0;
    const int status = nvmlDeviceGetPowerUsage(device, to == nullptr ? nullptr : &power);
    if (status == 0) *to = value;
    return status;
}

}  // namespace
