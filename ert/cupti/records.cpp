#include "ert/cupti/records.hpp"

#include "ert/base/units.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace roof::cupti {
namespace {

std::deque<RangeActivity> ranges_named(const std::deque<RangeActivity>& ranges, const std::string& wanted)
{
    std::deque<RangeActivity> found;
    for (const RangeActivity& range : ranges)
        if (is_named(*range.name, wanted)) found.push_back(range);
    // For all threads: the work of autograd's threads during a step belongs to the step.
    for (RangeActivity& range : found) range.thread = 0;
    return found;
}

std::string device_name(std::uint32_t device)
{
    return "gpu:" + std::to_string(device);
}

std::string extent(const std::array<std::int32_t, 3>& sizes)
{
    return std::to_string(sizes[0]) + 'x' + std::to_string(sizes[1]) + 'x' + std::to_string(sizes[2]);
}

std::optional<MemoryKind> memory_kind(std::uint8_t kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
            return MemoryKind::pageable;
        case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
            return MemoryKind::pinned;
        case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
        case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
        case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
            return MemoryKind::device;
        case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
        case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
            return MemoryKind::managed;
        default:
            return std::nullopt;
    }
}

std::string wait_kind(CUpti_ActivitySynchronizationType type)
{
    switch (type) {
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
            return "event";
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
            return "stream wait";
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
            return "stream";
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
            return "context";
        default:
            return "unknown";
    }
}

Seconds length(Nanoseconds begin, Nanoseconds end)
{
    return {end > begin ? nanosecond * static_cast<double>(end - begin) : 0};
}

}  // namespace

std::string plain_kernel_name(const std::string& name)
{
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                       std::free);
    return plain == nullptr ? name : plain.get();
}

std::string api_name(const Cupti& cupti, ApiDomain domain, std::uint32_t function)
{
    const char* name = nullptr;
    const auto ask = cupti.function<decltype(cuptiGetCallbackName)>("cuptiGetCallbackName");
    const CUpti_CallbackDomain of =
        domain == ApiDomain::runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    if (ask(of, function, &name) != CUPTI_SUCCESS || name == nullptr) return "function " + std::to_string(function);
    return plain_api_name(name);
}

Records::Records(const ActivityLog& log, const Labels& labels, ApiName api_name, RecordOptions options)
    : log_(log),
      labels_(labels),
      api_name_(std::move(api_name)),
      options_(std::move(options)),
      ranges_(log.ranges()),
      kept_ranges_(ranges_named(log.ranges(), options_.only_within)),
      kept_(kept_ranges_)
{
    // A call of the runtime and the driver's call inside it share a number; the runtime's call is kept.
    for (const CallActivity& call : log.calls()) {
        const CallActivity*& place = calls_[call.correlation];
        if (place == nullptr || call.domain == ApiDomain::runtime) place = &call;
    }
}

Label Records::label_in_ranges(std::uint32_t thread, Nanoseconds moment) const
{
    std::vector<std::string_view> innermost_first;
    for (const RangeActivity* range : ranges_.around(thread, moment)) innermost_first.push_back(*range->name);
    Label label = label_in(innermost_first);
    if (!label.phase.empty()) return label;
    const RangeActivity* const elsewhere = ranges_.phase_at(moment);
    if (elsewhere != nullptr) label.phase = phase_in(*elsewhere->name);
    return label;
}

Label Records::label_of(std::uint32_t correlation, std::uint64_t graph_node) const
{
    if (const std::uint64_t number = labels_.of_node(graph_node)) return labels_.label_of(number);
    if (const std::uint64_t number = log_.label_of(correlation)) return labels_.label_of(number);
    const auto call = calls_.find(correlation);
    return call == calls_.end() ? Label{} : label_in_ranges(call->second->thread, call->second->begin);
}

/// CUPTI sets the time to 0 for records that it could not time. They are kept, without a start.
bool Records::is_kept(Nanoseconds begin, Nanoseconds asked) const
{
    if (begin != 0 && begin < options_.zero) return false;
    return options_.only_within.empty() || !kept_.around(0, asked).empty();
}

Nanoseconds Records::call_begin_of(std::uint32_t correlation, Nanoseconds otherwise) const
{
    const auto call = calls_.find(correlation);
    return call == calls_.end() ? otherwise : call->second->begin;
}

Cause Records::cause_of(std::string device, Number stream, std::uint32_t correlation, std::uint64_t graph_node) const
{
    Label label = label_of(correlation, graph_node);
    return {std::move(device), stream, correlation, std::move(label.layer), std::move(label.phase)};
}

Cause Records::cause_of(const DeviceActivity& activity) const
{
    return cause_of(device_name(activity.device), activity.stream, activity.correlation, activity.graph_node);
}

std::optional<Seconds> Records::since_zero(Nanoseconds moment) const
{
    if (moment == 0 || moment < options_.zero) return std::nullopt;
    return Seconds{nanosecond * static_cast<double>(moment - options_.zero)};
}

const std::string& Records::plain(const std::string& mangled) const
{
    const auto [place, is_new] = demangled_.try_emplace(mangled);
    if (is_new) place->second = plain_kernel_name(mangled);
    return place->second;
}

const std::string& Records::name_of(const CallActivity& call) const
{
    const std::uint64_t key = (std::uint64_t{call.domain == ApiDomain::driver} << 32U) | call.function;
    const auto [place, is_new] = api_names_.try_emplace(key);
    if (is_new) place->second = api_name_(call.domain, call.function);
    return place->second;
}

std::optional<KernelRecord> Records::record(const KernelActivity& kernel) const
{
    if (!is_kept(kernel.at.begin, call_begin_of(kernel.at.correlation, kernel.at.begin))) return std::nullopt;
    return KernelRecord{cause_of(kernel.at),
                        plain(*kernel.name),
                        since_zero(kernel.at.begin),
                        length(kernel.at.begin, kernel.at.end),
                        extent(kernel.grid),
                        extent(kernel.block),
                        kernel.registers,
                        Bytes{static_cast<double>(kernel.shared)},
                        kernel.at.graph_node == 0 ? Number{} : Number{kernel.at.graph_node}};
}

std::optional<CopyRecord> Records::record(const CopyActivity& copy) const
{
    if (!is_kept(copy.at.begin, call_begin_of(copy.at.correlation, copy.at.begin))) return std::nullopt;
    return CopyRecord{cause_of(copy.at),
                      copy.kind,
                      memory_kind(copy.source),
                      memory_kind(copy.destination),
                      Bytes{static_cast<double>(copy.bytes)},
                      since_zero(copy.at.begin),
                      length(copy.at.begin, copy.at.end)};
}

std::optional<ApiRecord> Records::record(const CallActivity& call) const
{
    if (!is_kept(call.begin, call.begin)) return std::nullopt;
    Label label = label_of(call.correlation, 0);
    return ApiRecord{call.thread, call.correlation, std::move(label.layer), std::move(label.phase),
                     call.domain, name_of(call),    since_zero(call.begin), length(call.begin, call.end)};
}

std::optional<MemoryRecord> Records::record(const MemoryActivity& memory) const
{
    if (!is_kept(memory.time, memory.time)) return std::nullopt;
    return MemoryRecord{cause_of(device_name(memory.device), std::nullopt, memory.correlation),
                        memory.action,
                        memory.is_pooled ? MemoryKind::pool : memory_kind(memory.memory),
                        memory.address,
                        Bytes{static_cast<double>(memory.bytes)},
                        since_zero(memory.time)};
}

std::optional<SynchronisationRecord> Records::record(const WaitActivity& wait) const
{
    if (!is_kept(wait.begin, call_begin_of(wait.correlation, wait.begin))) return std::nullopt;
    const std::optional<std::uint32_t> device = log_.device_of(wait.context);
    constexpr std::uint32_t no_stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    return SynchronisationRecord{cause_of(device ? device_name(*device) : "",
                                          wait.stream == no_stream ? Number{} : Number{wait.stream}, wait.correlation),
                                 wait_kind(wait.type), since_zero(wait.begin), length(wait.begin, wait.end)};
}

std::optional<RangeRecord> Records::record(const RangeActivity& range) const
{
    if (!is_kept(range.begin, range.begin)) return std::nullopt;
    return RangeRecord{range.thread, range.kind == RangeKind::nvtx ? kind_in(*range.name) : range.kind, *range.name,
                       since_zero(range.begin), length(range.begin, range.end)};
}

}  // namespace roof::cupti
