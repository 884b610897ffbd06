// CUPTI's records made by hand, in CUPTI's layout. Members that are not set are zero.
#pragma once

#include "ert/cupti/activity_log.hpp"

namespace roof::cupti::made {

template <class Layout>
const CUpti_Activity& as_activity(const Layout& record)
{
    return reinterpret_cast<const CUpti_Activity&>(record);
}

struct When {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
};

inline KernelLayout kernel(const char* name, std::uint32_t correlation, When when)
{
    KernelLayout record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.name = name;
    record.correlationId = correlation;
    record.start = when.begin;
    record.end = when.end;
    record.deviceId = 1;
    record.contextId = 5;
    record.streamId = 7;
    record.gridX = 64;
    record.gridY = 2;
    record.gridZ = 1;
    record.blockX = 128;
    record.blockY = record.blockZ = 1;
    record.registersPerThread = 40;
    record.staticSharedMemory = 1024;
    record.dynamicSharedMemory = 2048;
    return record;
}

inline CopyLayout copy(std::uint8_t kind, std::uint64_t bytes, std::uint32_t correlation, When when)
{
    CopyLayout record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.deviceId = 1;
    record.copyKind = kind;
    record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.bytes = bytes;
    record.correlationId = correlation;
    record.start = when.begin;
    record.end = when.end;
    return record;
}

inline CUpti_ActivityAPI call(CUpti_ActivityKind kind, std::uint32_t function, std::uint32_t correlation,
                              std::uint32_t thread, When when)
{
    CUpti_ActivityAPI record{};
    record.kind = kind;
    record.cbid = function;
    record.correlationId = correlation;
    record.threadId = thread;
    record.start = when.begin;
    record.end = when.end;
    return record;
}

inline CUpti_ActivityExternalCorrelation external(std::uint32_t correlation, std::uint64_t label)
{
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.externalId = label;
    record.correlationId = correlation;
    return record;
}

inline MarkerLayout marker(CUpti_ActivityFlag flag, std::uint32_t number, const char* name, Nanoseconds time,
                           std::uint32_t thread)
{
    MarkerLayout record{};
    record.kind = CUPTI_ACTIVITY_KIND_MARKER;
    record.flags = flag;
    record.id = number;
    record.name = name;
    record.timestamp = time;
    record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    record.objectId.pt.threadId = thread;
    return record;
}

/// Both markers of a range.
inline void take_range(ActivityLog& log, const char* name, std::uint32_t number, std::uint32_t thread, When when)
{
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_START, number, name, when.begin, thread)));
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_END, number, nullptr, when.end, thread)));
}

}  // namespace roof::cupti::made
