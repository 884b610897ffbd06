// The name that newer drivers have for the reasons of a slowdown.
struct nvmlDevice_st;

extern "C" int nvmlDeviceGetPowerUsage(nvmlDevice_st*, unsigned*);

extern "C" int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, unsigned long long* reasons)
{
    unsigned power = 0;
    const int status = nvmlDeviceGetPowerUsage(device, reasons == nullptr ? nullptr : &power);
    if (status == 0) *reasons = 0x24;
    return status;
}
