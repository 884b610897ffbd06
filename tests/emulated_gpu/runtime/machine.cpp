#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace roof::emulated {

namespace {

cudaError_t error_of(Fault::Kind kind)
{
    switch (kind) {
        case Fault::Kind::misaligned:
            return cudaErrorMisalignedAddress;
        case Fault::Kind::outside:
            return cudaErrorIllegalAddress;
        case Fault::Kind::launch:
            break;
    }
    return cudaErrorLaunchFailure;
}

}  // namespace

Machine::Machine()
{
    const auto number_in = [](const char* variable, int otherwise) {
        const char* const text = std::getenv(variable);
        return text == nullptr ? otherwise : std::atoi(text);
    };
    const char* const chosen = std::getenv("ROOF_EMULATED_CARD");
    if (const char* const spoiled = std::getenv("ROOF_EMULATED_WRONG"); spoiled != nullptr) engine_.spoils = spoiled;
    engine_.finds_races = std::getenv("ROOF_EMULATED_RACES") != nullptr;
    Card card = small_card(chosen == nullptr ? "h100" : chosen);
    card.threads = static_cast<unsigned>(number_in("ROOF_EMULATED_THREADS", static_cast<int>(card.threads)));
    const char* mebibytes = std::getenv("ROOF_EMULATED_MIB");
    for (int number = 0; number < number_in("ROOF_EMULATED_GPUS", 1); ++number) {
        if (mebibytes != nullptr) {
            card.memory_bytes = static_cast<std::size_t>(std::atof(mebibytes) * (1 << 20));
            const char* const next = std::strchr(mebibytes, ',');
            if (next != nullptr) mebibytes = next + 1;
        }
        devices_.push_back(std::make_unique<DeviceState>(number, card));
        defaults_.push_back(std::make_unique<Stream>());
        defaults_.back()->device = number;
    }
}

Stream& Machine::stream(cudaStream_t handle, int device)
{
    if (handle != nullptr) return *reinterpret_cast<Stream*>(handle);
    return *defaults_[static_cast<std::size_t>(device)];
}

Stream* Machine::make_stream(int device, bool waits_for_default)
{
    streams_.push_back(std::make_unique<Stream>());
    streams_.back()->device = device;
    streams_.back()->waits_for_default = waits_for_default;
    return streams_.back().get();
}

void Machine::destroy_stream(Stream* stream)
{
    finish(*stream);
    streams_.remove_if([stream](const auto& other) { return other.get() == stream; });
}

cudaError_t Machine::enqueue(Stream& stream, Operation operation)
{
    if (const cudaError_t error = sticky(stream.device); error != cudaSuccess) return error;
    if (stream.capture != nullptr) {
        Capture& capture = *stream.capture;
        capture.nodes.push_back({std::move(operation), stream.captured_last});
        stream.captured_last = {static_cast<long>(capture.nodes.size()) - 1};
        return cudaSuccess;
    }
    // The default stream and those that wait for it: one after the other.
    Stream* const of_device = defaults_[static_cast<std::size_t>(stream.device)].get();
    if (&stream == of_device) {
        for (const auto& other : streams_) {
            if (other->device == stream.device && other->waits_for_default && other->capture == nullptr) finish(*other);
        }
    } else if (stream.waits_for_default) {
        finish(*of_device);
    }
    stream.queue.push_back(std::move(operation));
    return cudaSuccess;
}

bool Machine::is_idle() const
{
    const auto is_done = [](const auto& stream) { return stream->queue.empty(); };
    return std::all_of(defaults_.begin(), defaults_.end(), is_done) &&
           std::all_of(streams_.begin(), streams_.end(), is_done);
}

bool Machine::run_one()
{
    std::vector<Stream*> ready;
    const auto consider = [&](Stream& stream) {
        if (!stream.queue.empty() && (!stream.queue.front().is_ready || stream.queue.front().is_ready()))
            ready.push_back(&stream);
    };
    for (const auto& stream : defaults_) consider(*stream);
    for (const auto& stream : streams_) consider(*stream);
    if (ready.empty()) return false;
    Stream& chosen = *ready[engine_.chance() % ready.size()];
    Operation operation = std::move(chosen.queue.front());
    chosen.queue.pop_front();
    double& now = device(chosen.device).seconds;
    chosen.seconds = std::max(chosen.seconds, now);
    try {
        if (sticky(chosen.device) == cudaSuccess) {
            operation.run(chosen.seconds);
            if (operation.is_over && !operation.is_over()) chosen.queue.push_front(std::move(operation));
        }
        now = std::max(now, chosen.seconds);
    } catch (const Fault& fault) {
        fail(chosen.device, fault);
    }
    return true;
}

bool Machine::awaits_others() const
{
    const auto waits = [](const std::unique_ptr<Stream>& stream) {
        return !stream->queue.empty() && stream->queue.front().awaits_others;
    };
    return std::any_of(defaults_.begin(), defaults_.end(), waits) ||
           std::any_of(streams_.begin(), streams_.end(), waits);
}

cudaError_t Machine::run_until(const std::function<bool()>& condition, bool may_wait)
{
    while (!condition()) {
        if (!sticky_.empty()) return sticky_.begin()->second;
        if (run_one()) continue;
        if (!awaits_others()) {
            fail(0, Fault(Fault::Kind::launch, "the host waits for what no stream will do"));
            return sticky(0);
        }
        if (!may_wait) return cudaErrorNotReady;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return cudaSuccess;
}

cudaError_t Machine::finish(Stream& stream)
{
    const cudaError_t status = run_until([&] { return stream.queue.empty(); });
    return status != cudaSuccess ? status : sticky(stream.device);
}

cudaError_t Machine::finish_device(int device)
{
    const auto is_idle = [&](const std::unique_ptr<Stream>& stream) {
        return stream->device != device || stream->queue.empty();
    };
    const cudaError_t status = run_until([&] {
        return std::all_of(defaults_.begin(), defaults_.end(), is_idle) &&
               std::all_of(streams_.begin(), streams_.end(), is_idle);
    });
    return status != cudaSuccess ? status : sticky(device);
}

cudaError_t Machine::check_not_captured(Stream& stream)
{
    if (stream.capture == nullptr) return cudaSuccess;
    stream.capture->is_valid = false;
    return cudaErrorStreamCaptureUnsupported;
}

void Machine::fail(int device, const Fault& fault)
{
    last_fault_ = fault.what();
    std::fprintf(stderr, "emulated gpu:%d: %s\n", device, fault.what());
    sticky_[device] = error_of(fault.kind());
}

cudaError_t Machine::sticky(int device) const
{
    const auto found = sticky_.find(device);
    return found == sticky_.end() ? cudaSuccess : found->second;
}

void Machine::forget_faults()
{
    sticky_.clear();
    last_fault_.clear();
    for (const auto& stream : defaults_) stream->queue.clear();
    for (const auto& stream : streams_) stream->queue.clear();
}

Machine& machine()
{
    static Machine the_machine;
    return the_machine;
}

namespace {
thread_local int device_of_thread = 0;
thread_local cudaError_t error_of_thread = cudaSuccess;
}  // namespace

int current_device()
{
    return device_of_thread;
}
void set_current_device(int device)
{
    device_of_thread = device;
}
cudaError_t returned(cudaError_t status)
{
    if (status != cudaSuccess && status != cudaErrorNotReady) error_of_thread = status;
    return status;
}

}  // namespace roof::emulated

extern "C" {

cudaError_t cudaGetLastError()
{
    using namespace roof::emulated;
    const std::lock_guard lock(machine().mutex());
    if (machine().count() > 0 && machine().sticky(current_device()) != cudaSuccess)
        return machine().sticky(current_device());
    return std::exchange(error_of_thread, cudaSuccess);
}

cudaError_t cudaPeekAtLastError()
{
    return roof::emulated::error_of_thread;
}

const char* cudaGetErrorName(cudaError_t error)
{
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorNoDevice:
            return "cudaErrorNoDevice";
        case cudaErrorInvalidDevice:
            return "cudaErrorInvalidDevice";
        case cudaErrorNoKernelImageForDevice:
            return "cudaErrorNoKernelImageForDevice";
        case cudaErrorInvalidDeviceFunction:
            return "cudaErrorInvalidDeviceFunction";
        case cudaErrorIllegalAddress:
            return "cudaErrorIllegalAddress";
        case cudaErrorMisalignedAddress:
            return "cudaErrorMisalignedAddress";
        case cudaErrorLaunchFailure:
            return "cudaErrorLaunchFailure";
        case cudaErrorNotReady:
            return "cudaErrorNotReady";
        case cudaErrorStreamCaptureUnsupported:
            return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorPeerAccessAlreadyEnabled:
            return "cudaErrorPeerAccessAlreadyEnabled";
        default:
            return "another cudaError_t";
    }
}

const char* cudaGetErrorString(cudaError_t error)
{
    using namespace roof::emulated;
    const std::lock_guard lock(machine().mutex());
    const bool is_fault =
        error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress || error == cudaErrorLaunchFailure;
    return is_fault ? machine().last_fault().c_str() : "reported by the emulated runtime";
}
}
