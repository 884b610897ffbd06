#include "analysis/study/recording.hpp"

namespace roof::analysis {

namespace {

const RecordedKernels& kernels_and_breakdown(const Study& study)
{
    return study.recording.kernels.get(
        [&] { return read_kernels(study.results.folder, study.kernel_rules, layer_kinds(study.results.rows)); });
}

}  // namespace

const KernelDigest& kernels_of(const Study& study)
{
    return kernels_and_breakdown(study).digest;
}

const std::vector<DeviceTimeBreakdown>& time_breakdown_of(const Study& study)
{
    return kernels_and_breakdown(study).time_breakdown;
}

const std::vector<CallTotal>& calls_of(const Study& study)
{
    return study.recording.calls.get([&] { return add_up_calls(study.results.folder); });
}

const std::vector<CopyTotal>& copies_of(const Study& study)
{
    return study.recording.copies.get([&] { return add_up_copies(study.results.folder); });
}

const std::vector<MemoryUse>& memory_of(const Study& study)
{
    return study.recording.memory.get([&] { return follow_memory(study.results.folder); });
}

}  // namespace roof::analysis
