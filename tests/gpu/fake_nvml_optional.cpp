// Functions that a driver's NVML may lack: each gives what the power's status allows.
struct nvmlDevice_st;

struct nvmlMemory {
    unsigned long long total, free, used;
};

struct nvmlFieldValue {
    unsigned field, scope;
    long long timestamp, microseconds;
    unsigned type;
    int status;
    union {
        double real;
        unsigned number;
        unsigned long long longest;
    } value;
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

/// Millijoules since the driver was loaded, from Volta on.
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_st* device, unsigned long long* energy)
{
    return give(device, energy, 123'456'789ULL);
}

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_st* device, unsigned* limit)
{
    return give(device, limit, 700'000U);
}

/// Succeeds where it could look; each value has a status of its own, and is undefined unless that is success.
int nvmlDeviceGetFieldValues(nvmlDevice_st* device, int count, nvmlFieldValue* values)
{
    constexpr int invalid_argument = 2;
    constexpr int not_supported = 3;
    constexpr unsigned power_instant = 186;
    const int status = give(device, values, values == nullptr ? nvmlFieldValue{} : *values);
    if (status != 0) return status;
    if (count < 1) return invalid_argument;
    for (int i = 0; i < count; ++i) {
        values[i].status = values[i].field != power_instant ? not_supported
                           : values[i].scope > 1            ? invalid_argument
                                                            : 0;
        values[i].type = 1;  // unsigned
        values[i].value.number = values[i].status == 0 ? 655'250U : 77U;
    }
    return 0;
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
