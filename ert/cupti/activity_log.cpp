#include "ert/cupti/activity_log.hpp"

namespace roof::cupti {
namespace {

template <class Layout>
const Layout& as(const CUpti_Activity& record)
{
    return reinterpret_cast<const Layout&>(record);
}

CopyKind copy_kind(std::uint8_t kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
            return CopyKind::host_to_device;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
            return CopyKind::device_to_host;
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
            return CopyKind::host_to_host;
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
            return CopyKind::peer;
        default:
            return CopyKind::device_to_device;
    }
}

/// CUPTI's own work, and not the driver's: what the program compiles and loads is its own time.
bool is_own(CUpti_ActivityOverheadKind kind)
{
    return kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH ||
           kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION || kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE;
}

}  // namespace

template <class Layout>
void ActivityLog::add_device_activity(DeviceActivity& at, const Layout& record)
{
    at = {record.start, record.end, record.deviceId, record.streamId, record.correlationId, record.graphNodeId};
    devices_.try_emplace(record.contextId, record.deviceId);
}

template <class Layout>
void ActivityLog::add_copy(const Layout& record, CopyKind kind, std::uint32_t source, std::uint32_t destination)
{
    CopyActivity& copy = copies_.emplace_back();
    add_device_activity(copy.at, record);
    copy.kind = kind;
    copy.source = static_cast<std::uint8_t>(source);
    copy.destination = static_cast<std::uint8_t>(destination);
    copy.bytes = record.bytes;
}

void ActivityLog::add(const CUpti_Activity& record)
{
    if (size() >= most_) {
        ++dropped_;
        return;
    }
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return add_kernel(record);
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& copy = as<CopyLayout>(record);
            return add_copy(copy, copy_kind(copy.copyKind), copy.srcKind, copy.dstKind);
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const auto& copy = as<PeerCopyLayout>(record);
            return add_copy(copy, CopyKind::peer, copy.srcKind, copy.dstKind);
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& fill = as<FillLayout>(record);
            return add_copy(fill, CopyKind::fill, 0, fill.memoryKind);
        }
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            return add_call(record, ApiDomain::runtime);
        case CUPTI_ACTIVITY_KIND_DRIVER:
            return add_call(record, ApiDomain::driver);
        case CUPTI_ACTIVITY_KIND_MEMORY2:
            return add_memory(record);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return add_wait(record);
        case CUPTI_ACTIVITY_KIND_MARKER:
            return add_marker(record);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return add_external(record);
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            if (const auto& overhead = as<OverheadLayout>(record); is_own(overhead.overheadKind))
                overhead_ += overhead.end - overhead.start;
            return;
        default:
            return;
    }
}

void ActivityLog::add(const RangeActivity& range, const std::string& name)
{
    ranges_.push_back(range);
    ranges_.back().name = intern(name.c_str());
}

void ActivityLog::add_kernel(const CUpti_Activity& record)
{
    const auto& kernel = as<KernelLayout>(record);
    KernelActivity& added = kernels_.emplace_back();
    add_device_activity(added.at, kernel);
    added.name = intern(kernel.name);
    added.grid = {kernel.gridX, kernel.gridY, kernel.gridZ};
    added.block = {kernel.blockX, kernel.blockY, kernel.blockZ};
    added.registers = kernel.registersPerThread;
    added.shared = static_cast<std::uint32_t>(kernel.staticSharedMemory + kernel.dynamicSharedMemory);
}

void ActivityLog::add_call(const CUpti_Activity& record, ApiDomain domain)
{
    const auto& call = as<CallLayout>(record);
    calls_.push_back({call.start, call.end, call.threadId, call.correlationId, call.cbid, domain});
}

void ActivityLog::add_memory(const CUpti_Activity& record)
{
    const auto& memory = as<MemoryLayout>(record);
    const bool is_release = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    allocations_.push_back({memory.timestamp, memory.deviceId, memory.correlationId, memory.address, memory.bytes,
                            is_release ? MemoryAction::release : MemoryAction::allocate,
                            static_cast<std::uint8_t>(memory.memoryKind),
                            memory.memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID});
}

void ActivityLog::add_wait(const CUpti_Activity& record)
{
    const auto& wait = as<WaitLayout>(record);
    waits_.push_back({wait.start, wait.end, wait.contextId, wait.streamId, wait.correlationId, wait.type});
}

/// A range is two markers with one number; the second has no name. A range without an end is left out.
void ActivityLog::add_marker(const CUpti_Activity& record)
{
    const auto& marker = as<MarkerLayout>(record);
    if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
        const std::uint32_t thread =
            marker.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? marker.objectId.pt.threadId : 0;
        open_markers_[marker.id] = {marker.timestamp, 0, thread, RangeKind::nvtx, intern(marker.name)};
    } else if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
        const auto open = open_markers_.find(marker.id);
        if (open == open_markers_.end()) return;
        open->second.end = marker.timestamp;
        ranges_.push_back(open->second);
        open_markers_.erase(open);
    }
}

void ActivityLog::add_external(const CUpti_Activity& record)
{
    const auto& external = as<ExternalLayout>(record);
    if (external.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        labels_[external.correlationId] = external.externalId;
}

void ActivityLog::clear()
{
    kernels_.clear();
    copies_.clear();
    calls_.clear();
    allocations_.clear();
    waits_.clear();
    ranges_.clear();
    labels_.clear();
    dropped_ = 0;
    overhead_ = 0;
}

std::uint64_t ActivityLog::label_of(std::uint32_t correlation) const
{
    const auto found = labels_.find(correlation);
    return found == labels_.end() ? 0 : found->second;
}

std::optional<std::uint32_t> ActivityLog::device_of(std::uint32_t context) const
{
    const auto found = devices_.find(context);
    return found == devices_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t ActivityLog::size() const
{
    return kernels_.size() + copies_.size() + calls_.size() + allocations_.size() + waits_.size() + ranges_.size();
}

}  // namespace roof::cupti
