// The emulated CUDA runtime: order in and among streams, events, graphs, and refusals.
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/planted/planted.hpp"

#include <numeric>

using namespace roof::emulated;
using namespace roof::planted;

namespace {

struct TwoStreams {
    TwoStreams()
    {
        for (cudaStream_t& stream : streams)
            REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    }
    ~TwoStreams()
    {
        for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
        cudaEventDestroy(event);
    }
    cudaStream_t streams[2]{};
    cudaEvent_t event = nullptr;
};

std::vector<float> ones()
{
    return std::vector<float>(threads, 1.0F);
}

/// in -> middle in one stream, middle -> out in the other. Returns whether the second saw the first.
bool second_sees_first(const TwoStreams& two, unsigned seed, bool waits)
{
    machine().chance().seed(seed);
    const Array<float> in(ones());
    const Array<float> middle(threads);
    const Array<float> out(threads);
    enqueue_copy(in.data(), middle.data(), 0, 1, two.streams[0]);
    if (waits) {
        CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(two.streams[1], two.event, 0) == cudaSuccess);
    }
    enqueue_copy(middle.data(), out.data(), 0, 1, two.streams[1]);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    return out.values() == ones();
}

}  // namespace

TEST_CASE("a stream that waits for an event waits for its last record, not for an earlier one")
{
    const TwoStreams two;
    for (unsigned seed = 0; seed < 20; ++seed) {
        machine().chance().seed(seed);
        const Array<float> in(ones());
        const Array<float> middle(threads);
        const Array<float> out(threads);
        CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
        enqueue_copy(in.data(), middle.data(), 0, 1, two.streams[0]);
        CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(two.streams[1], two.event, 0) == cudaSuccess);
        enqueue_copy(middle.data(), out.data(), 0, 1, two.streams[1]);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(out.values() == ones());
    }
}

TEST_CASE("streams run in any order unless an event orders them")
{
    const TwoStreams two;
    int seen = 0;
    constexpr unsigned schedules = 20;
    for (unsigned seed = 0; seed < schedules; ++seed) {
        CHECK(second_sees_first(two, seed, true));
        seen += second_sees_first(two, seed, false) ? 1 : 0;
    }
    CHECK(seen < static_cast<int>(schedules));
}

TEST_CASE("a pinned buffer is read when the copy is done, not when it is enqueued")
{
    const TwoStreams two;
    void* pinned = nullptr;
    REQUIRE(cudaHostAlloc(&pinned, 4, cudaHostAllocMapped) == cudaSuccess);
    const Array<float> to(1);
    *static_cast<float*>(pinned) = 1;
    CHECK(cudaMemcpyAsync(to.data(), pinned, 4, cudaMemcpyHostToDevice, two.streams[0]) == cudaSuccess);
    *static_cast<float*>(pinned) = 2;
    CHECK(cudaStreamSynchronize(two.streams[0]) == cudaSuccess);
    CHECK(to.values()[0] == 2);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("copies are refused where the pointers are not what their kind says")
{
    const Array<float> device(4);
    std::vector<float> host(4);
    CHECK(cudaMemcpy(host.data(), device.data(), 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device.data(), host.data(), 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device.data() + 2, host.data(), 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("events measure the emulated time of the work between them")
{
    const TwoStreams two;
    cudaEvent_t begin = nullptr;
    REQUIRE(cudaEventCreate(&begin) == cudaSuccess);
    const Array<float> in(ones());
    const Array<float> out(threads);
    const auto time = [&](int launches) {
        CHECK(cudaEventRecord(begin, two.streams[0]) == cudaSuccess);
        for (int i = 0; i < launches; ++i) enqueue_copy(in.data(), out.data(), 0, 1, two.streams[0]);
        CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
        CHECK(cudaEventSynchronize(two.event) == cudaSuccess);
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, two.event) == cudaSuccess);
        return milliseconds;
    };
    CHECK(time(0) == 0);
    time(1);  // the next finds its data in the caches
    const float one = time(1);
    CHECK(one > 0);
    CHECK(time(10) == Approx(10 * one).epsilon(0.2));
    CHECK(cudaEventDestroy(begin) == cudaSuccess);
}

TEST_CASE("a captured graph runs as often as it is launched and keeps to its events")
{
    const TwoStreams two;
    const Array<float> in(ones());
    const Array<float> middle(threads);
    const Array<float> out(threads);
    REQUIRE(cudaStreamBeginCapture(two.streams[0], cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    enqueue_copy(in.data(), middle.data(), 0, 1, two.streams[0]);
    CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(two.streams[1], two.event, 0) == cudaSuccess);
    enqueue_copy(middle.data(), out.data(), 0, 1, two.streams[1]);
    CHECK(cudaEventRecord(two.event, two.streams[1]) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(two.streams[0], two.event, 0) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(two.streams[0], &graph) == cudaSuccess);
    CHECK(out.values() != ones());
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    for (unsigned seed = 0; seed < 5; ++seed) {
        machine().chance().seed(seed);
        CHECK(cudaMemset(middle.data(), 0, threads * 4) == cudaSuccess);
        CHECK(cudaMemset(out.data(), 0, threads * 4) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaGraphLaunch(executable, two.streams[0]) == cudaSuccess);
        CHECK(cudaStreamSynchronize(two.streams[0]) == cudaSuccess);
        CHECK(out.values() == ones());
    }
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a wait of the host or a fork that never joins spoils a capture")
{
    const TwoStreams two;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(two.streams[0], cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaStreamSynchronize(two.streams[0]) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(two.streams[0], &graph) == cudaErrorStreamCaptureInvalidated);

    const Array<float> in(ones());
    const Array<float> out(threads);
    REQUIRE(cudaStreamBeginCapture(two.streams[0], cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaEventRecord(two.event, two.streams[0]) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(two.streams[1], two.event, 0) == cudaSuccess);
    enqueue_copy(in.data(), out.data(), 0, 1, two.streams[1]);
    CHECK(cudaStreamEndCapture(two.streams[0], &graph) == cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
}

TEST_CASE("memory ends at the size of the card, and a larger allocation fails without sticking")
{
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, machine().device(0).card.memory_bytes + 1) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&memory, 1024) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaErrorInvalidValue);
    cudaGetLastError();
}
