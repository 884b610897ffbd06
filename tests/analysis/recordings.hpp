// Recordings of a synthetic row, small enough to add up by hand.
#pragma once

#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <string>
#include <vector>

namespace roof::made {

inline KernelRecord kernel(const std::string& name, double start, double seconds)
{
    KernelRecord record;
    record.name = name;
    record.start = Seconds{start};
    record.duration = {seconds};
    return record;
}

/// Records one step of 40 ms: 20 ms of products, 4 ms of a kernel without a rule, and a copy of 8 ms.
inline void record(const fakes::TemporaryFolder& folder, const std::string& id)
{
    append_records<KernelRecord>(folder.path(), id,
                                 std::vector{kernel("sgemm<a&b>", 0.01, 0.02), kernel("mystery", 0.03, 0.004)});
    CopyRecord copy;
    copy.kind = CopyKind::host_to_device;
    copy.bytes = Bytes{8e6};
    copy.start = Seconds{0.0};
    copy.duration = {0.008};
    append_records<CopyRecord>(folder.path(), id, {&copy, 1});
    const RangeRecord step{{}, RangeKind::step, "0", Seconds{0}, Seconds{0.04}};
    append_records<RangeRecord>(folder.path(), id, {&step, 1});
    const ApiRecord call{1, 2, "", "", ApiDomain::runtime, "cudaLaunchKernel_v7000", Seconds{0}, Seconds{0.001}};
    append_records<ApiRecord>(folder.path(), id, {&call, 1});
    const CounterRecord counter{{}, CounterScope::kernel, {}, {}, "sgemm<a&b>", 0, "dram__bytes.sum", 1e6, "byte"};
    append_records<CounterRecord>(folder.path(), id, {&counter, 1});
    MemoryRecord allocation;
    allocation.bytes = Bytes{5e6};
    append_records<MemoryRecord>(folder.path(), id, {&allocation, 1});
}

}  // namespace roof::made
