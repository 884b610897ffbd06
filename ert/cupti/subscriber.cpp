#include "ert/cupti/subscriber.hpp"

#include "ert/cupti/nvtx_parameters.hpp"
#include "ert/cupti/range_index.hpp"
#include "ert/cupti/records.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace roof::cupti {

namespace {

/// Of NVTX: they push and pop ranges.
constexpr std::array<CUpti_CallbackId, 5> range_calls{
    CUPTI_CBID_NVTX_nvtxRangePushA, CUPTI_CBID_NVTX_nvtxRangePushEx, CUPTI_CBID_NVTX_nvtxRangePop,
    CUPTI_CBID_NVTX_nvtxDomainRangePushEx, CUPTI_CBID_NVTX_nvtxDomainRangePop};

template <class Parameters>
const Parameters& as(const CUpti_NvtxData& data)
{
    return *static_cast<const Parameters*>(data.functionParams);
}

std::string text(const char* words)
{
    return words == nullptr ? "" : words;
}

std::string name_in(const nvtxEventAttributes_t* attributes)
{
    if (attributes == nullptr || attributes->messageType != NVTX_MESSAGE_TYPE_ASCII) return "";
    return text(attributes->message.ascii);
}

using Kind = UpcomingCall::Kind;

/// The label of this thread's calls; graphs are captured under it.
thread_local std::uint64_t label_at_work = 0;
/// This thread is inside the listener.
thread_local bool is_in_listener = false;

constexpr std::array<CUpti_CallbackId, 2> graph_events{CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                                       CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

struct LaunchCall {
    CUpti_CallbackId call;
    Kind kind;
};

constexpr std::array<LaunchCall, 8> launch_calls{
    {{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, Kind::kernel},
     {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, Kind::graph},
     {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, Kind::graph}}};

constexpr std::array<CUpti_CallbackId, 6> begins_of_capture{
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
constexpr std::array<CUpti_CallbackId, 2> ends_of_capture{CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                                          CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};

bool holds(std::span<const CUpti_CallbackId> calls, CUpti_CallbackId call)
{
    return std::find(calls.begin(), calls.end(), call) != calls.end();
}

void CUPTIAPI called_back(void* subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId event, const void* data)
{
    static_cast<Subscriber*>(subscriber)->on_callback(domain, event, data);
}

std::uint32_t this_thread()
{
    return static_cast<std::uint32_t>(::gettid());
}

}  // namespace

void OpenRanges::push(std::uint32_t thread, const void* domain, std::string name)
{
    const std::lock_guard lock(mutex_);
    threads_[thread].push_back({domain, std::move(name), ++opened_});
}

void OpenRanges::pop(std::uint32_t thread, const void* domain)
{
    const std::lock_guard lock(mutex_);
    std::vector<Open>& open = threads_[thread];
    const auto last =
        std::find_if(open.rbegin(), open.rend(), [&](const Open& range) { return range.domain == domain; });
    if (last != open.rend()) open.erase(std::next(last).base());
    if (open.empty()) threads_.erase(thread);
}

void OpenRanges::on_call(std::uint32_t thread, CUpti_CallbackId call, const CUpti_NvtxData& data)
{
    switch (call) {
        case CUPTI_CBID_NVTX_nvtxRangePushA:
            return push(thread, nullptr, text(as<nvtxRangePushA_params>(data).message));
        case CUPTI_CBID_NVTX_nvtxRangePushEx:
            return push(thread, nullptr, name_in(as<nvtxRangePushEx_params>(data).eventAttrib));
        case CUPTI_CBID_NVTX_nvtxRangePop:
            return pop(thread, nullptr);
        case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
            const auto& given = as<nvtxDomainRangePushEx_params>(data);
            return push(thread, given.domain, name_in(given.core.eventAttrib));
        }
        case CUPTI_CBID_NVTX_nvtxDomainRangePop:
            return pop(thread, as<nvtxDomainRangePop_params>(data).domain);
        default:
            return;
    }
}

Label OpenRanges::label(std::uint32_t thread) const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string_view> innermost_first;
    if (const auto found = threads_.find(thread); found != threads_.end())
        for (auto range = found->second.rbegin(); range != found->second.rend(); ++range)
            innermost_first.push_back(range->name);
    Label label = label_in(innermost_first);
    if (label.phase.empty()) label.phase = phase_opened_last();
    return label;
}

std::string OpenRanges::phase_opened_last() const
{
    std::uint64_t last = 0;
    std::string_view phase;
    for (const auto& [thread, open] : threads_)
        for (const Open& range : open)
            if (range.order > last && !phase_in(range.name).empty()) {
                last = range.order;
                phase = phase_in(range.name);
            }
    return std::string(phase);
}

bool OpenRanges::is_within(const std::string& wanted) const
{
    const std::lock_guard lock(mutex_);
    return std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
        return std::any_of(thread.second.begin(), thread.second.end(),
                           [&](const Open& range) { return is_named(range.name, wanted); });
    });
}

Subscriber::Subscriber(std::shared_ptr<const Cupti> cupti, Labels& labels) : cupti_(std::move(cupti)), labels_(labels)
{
    const auto subscribe = cupti_->function<decltype(cuptiSubscribe)>("cuptiSubscribe");
    const CUptiResult result = subscribe(&handle_, called_back, this);
    if (result != CUPTI_SUCCESS) failure_ = cupti_->describe(result);
    for (const CUpti_CallbackId event : graph_events) enable(true, CUPTI_CB_DOMAIN_RESOURCE, event);
    for (const CUpti_CallbackId call : begins_of_capture) enable(true, CUPTI_CB_DOMAIN_DRIVER_API, call);
    for (const CUpti_CallbackId call : ends_of_capture) enable(true, CUPTI_CB_DOMAIN_DRIVER_API, call);
}

Subscriber::~Subscriber()
{
    if (handle_ != nullptr) cupti_->function<decltype(cuptiUnsubscribe)>("cuptiUnsubscribe")(handle_);
}

void Subscriber::enable(bool wanted, CUpti_CallbackDomain domain, CUpti_CallbackId event)
{
    if (!failure_.empty()) return;
    const auto enable_callback = cupti_->function<decltype(cuptiEnableCallback)>("cuptiEnableCallback");
    const CUptiResult result = enable_callback(wanted ? 1 : 0, handle_, domain, event);
    if (wanted && result != CUPTI_SUCCESS) failure_ = cupti_->describe(result);
}

void Subscriber::label_calls(std::uint64_t label)
{
    label_at_work = label;
}

void Subscriber::follow_ranges()
{
    for (const CUpti_CallbackId call : range_calls) enable(true, CUPTI_CB_DOMAIN_NVTX, call);
}

void Subscriber::set_listener(OnCall on_call)
{
    const bool wanted = on_call != nullptr;
    {
        const std::lock_guard lock(mutex_);
        on_call_ = std::move(on_call);
    }
    for (const LaunchCall& launch : launch_calls) enable(wanted, CUPTI_CB_DOMAIN_DRIVER_API, launch.call);
    enable(wanted, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

void Subscriber::on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId event, const void* data)
{
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        return on_driver_call(event, *static_cast<const CUpti_CallbackData*>(data));
    if (domain == CUPTI_CB_DOMAIN_NVTX)
        return ranges_.on_call(this_thread(), event, *static_cast<const CUpti_NvtxData*>(data));
    if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    if (event == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        return forward({Kind::end_of_context, resource.context, {}});
    const auto* const graph = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
    if (graph != nullptr) on_graph(event, *graph);
}

Label Subscriber::label_now() const
{
    return label_at_work != 0 ? labels_.label_of(label_at_work) : ranges_.label(this_thread());
}

void Subscriber::on_graph(CUpti_CallbackId event, const CUpti_GraphData& data)
{
    const auto number_of = cupti_->function<decltype(cuptiGetGraphNodeId)>("cuptiGetGraphNodeId");
    std::uint64_t node = 0;
    std::uint64_t original = 0;
    if (number_of(data.node, &node) != CUPTI_SUCCESS) return;
    if (event == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
        const Label label = label_now();
        if (label != Label{}) labels_.captured(node, labels_.number_of(label));
    } else if (number_of(data.originalNode, &original) == CUPTI_SUCCESS) {
        labels_.cloned(node, original);
    }
}

void Subscriber::on_driver_call(CUpti_CallbackId event, const CUpti_CallbackData& call)
{
    const bool enters = call.callbackSite == CUPTI_API_ENTER;
    if (holds(begins_of_capture, event)) return on_begin_of_capture(enters, call);
    if (holds(ends_of_capture, event)) {
        if (!enters && captures_ > 0) --captures_;
        return;
    }
    if (!enters || captures_ > 0) return;
    for (const LaunchCall& launch : launch_calls) {
        if (launch.call != event) continue;
        const char* const kernel = call.symbolName == nullptr ? "" : call.symbolName;
        return forward({launch.kind, call.context, {plain_kernel_name(kernel), label_now()}});
    }
}

/// The capture has begun when the call has succeeded.
void Subscriber::on_begin_of_capture(bool enters, const CUpti_CallbackData& call)
{
    if (enters) return forward({Kind::begin_of_capture, call.context, {}});
    const auto* const result = static_cast<const CUresult*>(call.functionReturnValue);
    if (result == nullptr || *result == CUDA_SUCCESS) ++captures_;
}

void Subscriber::forward(const UpcomingCall& call)
{
    if (is_in_listener) return;
    const std::lock_guard lock(mutex_);
    if (!on_call_) return;
    is_in_listener = true;
    on_call_(call);
    is_in_listener = false;
}

}  // namespace roof::cupti
