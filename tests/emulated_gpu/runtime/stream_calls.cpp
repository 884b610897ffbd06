// Streams, events and graphs.
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <utility>

using namespace roof::emulated;

namespace {

Stream& stream_of(cudaStream_t handle)
{
    return machine().stream(handle, current_device());
}
Event& event_of(cudaEvent_t handle)
{
    return *reinterpret_cast<Event*>(handle);
}

/// A node of the graph that is captured from the stream, or at the end of the stream.
cudaError_t record(Event& event, Stream& stream, unsigned flags)
{
    if (stream.capture != nullptr && flags != cudaEventRecordExternal) {
        // No node: those who wait for the event follow what was captured so far.
        event.capture = stream.capture;
        stream.capture->nodes.push_back({{[](double&) {}}, stream.captured_last});
        event.node = static_cast<long>(stream.capture->nodes.size()) - 1;
        stream.captured_last = {event.node};
        return cudaSuccess;
    }
    event.capture = nullptr;
    const auto count = [&event] { ++event.records; };
    if (stream.capture == nullptr) count();
    // A node of a graph is run once for each launch, which counted it.
    const u64 number = stream.capture == nullptr ? event.records : 0;
    const auto is_recorded = [&event, number](double& seconds) {
        event.done = number == 0 ? event.done + 1 : std::max(event.done, number);
        event.seconds = seconds;
    };
    return machine().enqueue(stream, {.run = is_recorded, .on_launch = count});
}

cudaError_t wait(Stream& stream, Event& event)
{
    if (event.capture != nullptr) {
        // The stream becomes a part of the capture.
        if (stream.capture != nullptr && stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
        stream.capture = event.capture;
        stream.capture->joined.insert(&stream);
        stream.captured_last.insert(event.node);
        return cudaSuccess;
    }
    if (stream.capture != nullptr) return cudaErrorStreamCaptureIsolation;
    const u64 awaited = event.records;
    return machine().enqueue(stream, {.run = [&event](double& seconds) { seconds = std::max(seconds, event.seconds); },
                                      .is_ready = [&event, awaited] { return event.done >= awaited; }});
}

cudaError_t make_stream(cudaStream_t* handle, unsigned flags)
{
    const std::lock_guard lock(machine().mutex());
    const cudaError_t error = machine().sticky(current_device());
    if (error != cudaSuccess) return returned(error);
    *handle =
        reinterpret_cast<cudaStream_t>(machine().make_stream(current_device(), (flags & cudaStreamNonBlocking) == 0));
    return cudaSuccess;
}

cudaError_t take_time(Stream& stream, double taken)
{
    if (taken == 0) return cudaSuccess;
    return machine().enqueue(stream, {.run = [taken](double& seconds) { seconds += taken; }});
}

/// Before its first launch, if the program does not ask for it earlier.
cudaError_t upload(Graph& graph, Stream& stream)
{
    if (std::exchange(graph.is_uploaded, true)) return cudaSuccess;
    return take_time(stream, machine().graph_upload_seconds);
}

}  // namespace

std::vector<long> GraphRun::ready() const
{
    std::vector<long> all;
    for (long i = 0; i < static_cast<long>(graph_.nodes.size()); ++i) {
        const auto& [operation, after] = graph_.nodes[static_cast<std::size_t>(i)];
        if (!done_.contains(i) && std::includes(done_.begin(), done_.end(), after.begin(), after.end()) &&
            (!operation.is_ready || operation.is_ready()))
            all.push_back(i);
    }
    return all;
}

void GraphRun::run(double& seconds)
{
    for (std::vector<long> nodes = ready(); !nodes.empty(); nodes = ready()) {
        const long chosen = nodes[machine().chance()() % nodes.size()];
        graph_.nodes[static_cast<std::size_t>(chosen)].operation.run(seconds);
        done_.insert(chosen);
    }
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags)
{
    return make_stream(handle, flags);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int priority)
{
    machine().priorities.push_back(priority);
    return make_stream(handle, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    const std::lock_guard lock(machine().mutex());
    machine().destroy_stream(reinterpret_cast<Stream*>(handle));
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    const std::lock_guard lock(machine().mutex());
    if (const cudaError_t error = machine().check_not_captured(stream_of(handle)); error != cudaSuccess)
        return returned(error);
    return returned(machine().finish(stream_of(handle)));
}
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    const std::lock_guard lock(machine().mutex());
    Stream& stream = stream_of(handle);
    if (const cudaError_t error = machine().check_not_captured(stream); error != cudaSuccess) return returned(error);
    if (stream.queue.empty()) return returned(machine().sticky(stream.device));
    const std::size_t before = stream.queue.size();
    const cudaError_t error = machine().run_until([&] { return stream.queue.size() < before; }, false);
    return returned(error != cudaSuccess   ? error
                    : stream.queue.empty() ? machine().sticky(stream.device)
                                           : cudaErrorNotReady);
}
cudaError_t cudaDeviceSynchronize()
{
    const std::lock_guard lock(machine().mutex());
    return returned(machine().finish_device(current_device()));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags)
{
    auto* const event = new Event;  // freed by cudaEventDestroy
    event->device = current_device();
    event->has_time = (flags & cudaEventDisableTiming) == 0;
    *handle = reinterpret_cast<cudaEvent_t>(event);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* handle)
{
    return cudaEventCreateWithFlags(handle, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    const std::lock_guard lock(machine().mutex());
    Event& event = event_of(handle);
    machine().run_until([&] { return event.done >= event.records; });
    // Streams may still hold a wait for it, which then is ready.
    machine().finish_device(event.device);
    delete &event;
    return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned flags)
{
    const std::lock_guard lock(machine().mutex());
    if (event_of(handle).device != stream_of(stream).device) return returned(cudaErrorInvalidResourceHandle);
    return returned(record(event_of(handle), stream_of(stream), flags));
}
cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(handle, stream, cudaEventRecordDefault);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned flags)
{
    const std::lock_guard lock(machine().mutex());
    if (flags != cudaEventWaitDefault)
        return returned(cudaErrorInvalidValue);  // an external wait is none of a program's
    return returned(wait(stream_of(stream), event_of(handle)));
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    const std::lock_guard lock(machine().mutex());
    Event& event = event_of(handle);
    const u64 awaited = event.records;
    const cudaError_t error = machine().run_until([&] { return event.done >= awaited; });
    return returned(error != cudaSuccess ? error : machine().sticky(event.device));
}
cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    const std::lock_guard lock(machine().mutex());
    return event_of(handle).done >= event_of(handle).records ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    const std::lock_guard lock(machine().mutex());
    const Event& first = event_of(begin);
    const Event& second = event_of(end);
    if (!first.has_time || !second.has_time || first.records == 0 || second.records == 0)
        return returned(cudaErrorInvalidResourceHandle);
    if (first.done < first.records || second.done < second.records) return returned(cudaErrorNotReady);
    *milliseconds = static_cast<float>(1e3 * (second.seconds - first.seconds));
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
    const std::lock_guard lock(machine().mutex());
    if (handle == nullptr) return returned(cudaErrorStreamCaptureUnsupported);
    Stream& stream = stream_of(handle);
    if (stream.capture != nullptr) return returned(cudaErrorIllegalState);
    stream.capture = new Capture;  // freed by cudaStreamEndCapture
    stream.capture->origin = &stream;
    stream.captured_last.clear();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
    const std::lock_guard lock(machine().mutex());
    Stream& stream = stream_of(handle);
    *graph = nullptr;
    if (stream.capture == nullptr || stream.capture->origin != &stream) return returned(cudaErrorIllegalState);
    const std::unique_ptr<Capture> capture(stream.capture);
    bool is_joined = true;
    std::set<long> followed = stream.captured_last;
    for (const Capture::Node& node : capture->nodes) followed.insert(node.after.begin(), node.after.end());
    for (Stream* other : capture->joined) {
        if (other != &stream)
            is_joined &= std::includes(followed.begin(), followed.end(), other->captured_last.begin(),
                                       other->captured_last.end());
        other->capture = nullptr;
        other->captured_last.clear();
    }
    stream.capture = nullptr;
    stream.captured_last.clear();
    if (!capture->is_valid) return returned(cudaErrorStreamCaptureInvalidated);
    if (!is_joined) return returned(cudaErrorStreamCaptureUnjoined);
    *graph = reinterpret_cast<cudaGraph_t>(new Graph{std::move(capture->nodes)});
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status)
{
    const std::lock_guard lock(machine().mutex());
    *status = stream_of(handle).capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags)
{
    if (flags != 0) return returned(cudaErrorInvalidValue);
    *executable = reinterpret_cast<cudaGraphExec_t>(new Graph(*reinterpret_cast<Graph*>(graph)));
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t handle)
{
    const std::lock_guard lock(machine().mutex());
    return returned(upload(*reinterpret_cast<Graph*>(executable), stream_of(handle)));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle)
{
    const std::lock_guard lock(machine().mutex());
    Graph& graph = *reinterpret_cast<Graph*>(executable);
    if (const cudaError_t error = upload(graph, stream_of(handle)); error != cudaSuccess) return returned(error);
    const auto run = std::make_shared<GraphRun>(graph);
    Operation launch{.run = [run](double& seconds) { run->run(seconds); },
                     .is_ready = [run] { return run->is_ready(); },
                     .is_over = [run] { return run->is_over(); }};
    for (const Capture::Node& node : graph.nodes) {
        if (node.operation.on_launch) node.operation.on_launch();
        launch.awaits_others |= node.operation.awaits_others;
    }
    const cudaError_t waited = take_time(stream_of(handle), machine().graph_launch_seconds);
    if (waited != cudaSuccess) return returned(waited);
    return returned(machine().enqueue(stream_of(handle), std::move(launch)));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete reinterpret_cast<Graph*>(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete reinterpret_cast<Graph*>(executable);
    return cudaSuccess;
}
}
