// A fake CUPTI with the functions that recording needs. When flushed it delivers two kernels of a step, the calls that
// launched them, a copy, and a buffer with a broken end. FAKE_CUPTI_FAILS names the function that fails. The fake_…
// functions of fake_calls.hpp stand for a program's calls of the driver and of NVTX.
#include "ert/cupti/nvtx_parameters.hpp"
#include "fake_calls.hpp"
#include "made_records.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

using namespace roof::cupti::made;

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
bool has_delivered = false;
bool is_capturing = false;
bool has_fetched = false;                     ///< complete work is delivered once
std::atomic<bool> has_complete_work = false;  ///< of launches; it waits until someone asks for it
bool has_been_asked =
    false;  ///< for the time: the first answer is the beginning of all that is delivered, later ones its end

CUpti_CallbackFunc callback = nullptr;
void* callback_data = nullptr;
std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> wanted;

template <class Data>
void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId event, const Data& data)
{
    if (callback != nullptr && wanted.contains({domain, event})) callback(callback_data, domain, event, &data);
}

void call_driver(CUpti_CallbackId event, const char* symbol, CUcontext context)
{
    CUpti_CallbackData data{};
    data.symbolName = symbol;
    data.context = context;
    data.callbackSite = CUPTI_API_ENTER;
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, event, data);
    data.callbackSite = CUPTI_API_EXIT;
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, event, data);
}

void change_graph(CUpti_CallbackId event, std::uintptr_t node, std::uintptr_t original)
{
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    CUpti_ResourceData data{};
    data.resourceDescriptor = &graph;
    call_back(CUPTI_CB_DOMAIN_RESOURCE, event, data);
}

CUptiResult result_of(std::string_view function)
{
    const char* const failing = std::getenv("FAKE_CUPTI_FAILS");
    return failing != nullptr && function == failing ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

/// 0 for a kind that this CUPTI does not make.
std::size_t size_of(CUpti_ActivityKind kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return sizeof(roof::cupti::KernelLayout);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return sizeof(roof::cupti::CopyLayout);
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            return sizeof(CUpti_ActivityAPI);
        case CUPTI_ACTIVITY_KIND_MARKER:
            return sizeof(roof::cupti::MarkerLayout);
        default:
            return 0;
    }
}

class Filling {
  public:
    explicit Filling(std::uint8_t* buffer) : buffer_(buffer) {}

    template <class Record>
    void add(const Record& record)
    {
        std::memcpy(buffer_ + size_, &record, sizeof record);
        size_ += sizeof record;
    }
    std::size_t size() const { return size_; }

  private:
    std::uint8_t* buffer_;
    std::size_t size_ = 0;
};

void deliver()
{
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0;
    std::size_t most = 0;
    request(&buffer, &bytes, &most);
    if (buffer == nullptr) return;
    Filling filling(buffer);
    filling.add(marker(CUPTI_ACTIVITY_FLAG_MARKER_START, 1, "step 1", 1000, 4));
    filling.add(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 4, {1100, 1200}));
    filling.add(kernel("_Z5firstv", 1, {2000, 3000}));
    filling.add(marker(CUPTI_ACTIVITY_FLAG_MARKER_END, 1, nullptr, 5000, 4));
    filling.add(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 2, 4, {6000, 6100}));
    filling.add(kernel("_Z6secondv", 2, {6500, 7000}));
    filling.add(copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 4096, 3, {7500, 8000}));
    CUpti_Activity torn{};
    torn.kind = static_cast<CUpti_ActivityKind>(9999);
    filling.add(torn);
    complete(nullptr, 0, buffer, bytes, filling.size());
}

}  // namespace

extern "C" {

std::uint32_t fake_version()
{
    const char* const asked = std::getenv("FAKE_CUPTI_VERSION");
    return asked == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(asked));
}

CUptiResult cuptiGetVersion(uint32_t* version)
{
    *version = fake_version();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text)
{
    *text = "FAKE_ERROR";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult, const char** text)
{
    *text = "as the test wants it";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    request = requested;
    complete = completed;
    has_delivered = false;
    has_complete_work = false;
    has_fetched = false;
    has_been_asked = false;
    return result_of("cuptiActivityRegisterCallbacks");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_MEMORY2 ? result_of("memory") : result_of("cuptiActivityEnable");
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t)
{
    return CUPTI_SUCCESS;
}

/// Without force only what is complete is delivered, which is by itself never: a buffer fills after some 10,000
/// launches.
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) {
        if (!std::exchange(has_delivered, true)) deliver();
    } else if (has_complete_work && !std::exchange(has_fetched, true)) {
        deliver();
        has_been_asked = false;
    }
    return result_of("cuptiActivityFlushAll");
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record)
{
    auto* at = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size_of((*record)->kind);
    if (at + sizeof(CUpti_Activity) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return size_of((*record)->kind) == 0 ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped)
{
    *dropped = 17;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t*)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* moment)
{
    *moment = has_been_asked ? 10'000 : 1000;
    has_been_asked = true;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc called, void* data)
{
    const CUptiResult result = result_of("cuptiSubscribe");
    if (result != CUPTI_SUCCESS) return result;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&callback);
    callback = called;
    callback_data = data;
    return result;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId event)
{
    if (enable != 0)
        wanted.insert({domain, event});
    else
        wanted.erase({domain, event});
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle)
{
    callback = nullptr;
    wanted.clear();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* number)
{
    *number = reinterpret_cast<std::uintptr_t>(node);
    return node == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext, uint32_t* device)
{
    *device = 1;
    return CUPTI_SUCCESS;
}

int InitializeInjectionNvtx2(void*)
{
    return 1;
}

void fake_launch(const char* symbol, std::uintptr_t context)
{
    has_complete_work = request != nullptr;
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, symbol, reinterpret_cast<CUcontext>(context));
    if (!is_capturing) fake_count(1, context);
}

void fake_begin_capture()
{
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, nullptr, nullptr);
    is_capturing = true;
}

void fake_end_capture()
{
    is_capturing = false;
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, nullptr, nullptr);
}

void fake_graph_launch(std::uintptr_t context)
{
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, nullptr, reinterpret_cast<CUcontext>(context));
    fake_count(3, context);
}

void fake_end_context(std::uintptr_t context)
{
    CUpti_ResourceData data{};
    data.context = reinterpret_cast<CUcontext>(context);
    call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, data);
}

void fake_push(const char* name)
{
    nvtxRangePushA_params given{name};
    call_back(CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxRangePushA, CUpti_NvtxData{"nvtxRangePushA", &given, nullptr});
}

void fake_pop()
{
    nvtxRangePop_params given{};
    call_back(CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxRangePop, CUpti_NvtxData{"nvtxRangePop", &given, nullptr});
}

void fake_node(std::uintptr_t node)
{
    change_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0);
}

void fake_clone(std::uintptr_t node, std::uintptr_t original)
{
    change_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node, original);
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name)
{
    *name = "cudaLaunchKernel_v7000";
    return CUPTI_SUCCESS;
}

}  // extern "C"
