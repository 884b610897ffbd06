// Conversion of CUPTI's records, made by hand: kernels, copies, calls, allocations, waits and ranges, each with its
// layer and phase.
#include "ert/cupti/records.hpp"
#include "made_records.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;
using namespace roof::cupti::made;

namespace {

std::string made_name(ApiDomain domain, std::uint32_t function)
{
    return (domain == ApiDomain::runtime ? "cuda" : "cu") + std::to_string(function);
}

Records records(const ActivityLog& log, const Labels& labels, RecordOptions options = {})
{
    return {log, labels, made_name, std::move(options)};
}

}  // namespace

TEST_CASE("a kernel's record becomes a row: demangled, in seconds since the recording began")
{
    ActivityLog log;
    const Labels labels;
    log.add(as_activity(kernel("_Z7triad_kPfS_", 3, {2'000'000'000, 2'000'001'500})));
    const auto row = records(log, labels, {.zero = 1'000'000'000}).record(log.kernels()[0]);
    REQUIRE(row);
    CHECK(row->name == "triad_k(float*, float*)");
    CHECK(row->cause.device == "gpu:1");
    CHECK(row->cause.stream == 7);
    CHECK(row->cause.correlation == 3);
    CHECK(row->start->value == Approx(1));
    CHECK(row->duration.value == Approx(1.5e-6));
    CHECK(row->grid == "64x2x1");
    CHECK(row->block == "128x1x1");
    CHECK(row->registers == 40);
    CHECK(row->shared == Bytes{3072});
    CHECK_FALSE(row->graph_node);
    CHECK(row->cause.layer.empty());
}

TEST_CASE("a kernel carries the label that was pushed when it was launched")
{
    ActivityLog log;
    Labels labels;
    log.add(as_activity(kernel("k", 3, {10, 20})));
    log.add(as_activity(external(3, labels.number_of({"conv1", "forward"}))));
    auto other = external(3, labels.number_of({"wrong", "wrong"}));
    other.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC;
    log.add(as_activity(other));
    const auto row = records(log, labels).record(log.kernels()[0]);
    CHECK(row->cause.layer == "conv1");
    CHECK(row->cause.phase == "forward");
}

TEST_CASE("a kernel of a graph carries the label of its node's capture, not that of the graph's launch")
{
    ActivityLog log;
    Labels labels;
    labels.captured(100, labels.number_of({"conv1", "backward"}));
    labels.cloned(200, 100);
    auto in_graph = kernel("k", 3, {10, 20});
    in_graph.graphNodeId = 200;
    log.add(as_activity(in_graph));
    log.add(as_activity(external(3, labels.number_of({"", "launch"}))));
    const auto row = records(log, labels).record(log.kernels()[0]);
    CHECK(row->cause.layer == "conv1");
    CHECK(row->cause.phase == "backward");
    CHECK(row->graph_node == 200);
}

TEST_CASE("without labels, the program's own ranges around the call name layer and phase")
{
    ActivityLog log;
    const Labels labels;
    take_range(log, "step 1", 1, 1, {0, 1000});
    take_range(log, "forward", 2, 1, {10, 500});
    take_range(log, "conv1", 3, 1, {20, 100});
    take_range(log, "backward", 4, 1, {500, 900});
    take_range(log, "MulBackward0", 5, 2, {600, 700});
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 3, 1, {30, 40})));
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_DRIVER, 307, 3, 1, {32, 38})));
    log.add(as_activity(kernel("k", 3, {950, 960})));
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 4, 2, {650, 660})));
    log.add(as_activity(kernel("k", 4, {960, 970})));
    const Records made = records(log, labels);
    const auto forward = made.record(log.kernels()[0]);
    CHECK(forward->cause.layer == "conv1");
    CHECK(forward->cause.phase == "forward");
    const auto backward = made.record(log.kernels()[1]);
    CHECK(backward->cause.layer == "MulBackward0");
    CHECK(backward->cause.phase == "backward");
    const auto asked = made.record(log.calls()[0]);
    CHECK(asked->name == "cuda211");
    CHECK(asked->domain == ApiDomain::runtime);
    CHECK(asked->layer == "conv1");
    CHECK(asked->thread == 1);
    CHECK(made.record(log.calls()[1])->name == "cu307");
    CHECK(made.record(log.ranges()[2])->kind == RangeKind::nvtx);
    CHECK(made.record(log.ranges()[0])->kind == RangeKind::step);
    CHECK(made.record(log.ranges()[1])->kind == RangeKind::phase);
}

TEST_CASE("only work launched within the named ranges is kept, on any thread and whenever it ran")
{
    ActivityLog log;
    const Labels labels;
    take_range(log, "step 1", 1, 1, {100, 200});
    take_range(log, "warm-up", 2, 1, {0, 90});
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 3, 1, {50, 60})));
    log.add(as_activity(kernel("early", 3, {150, 160})));
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 4, 9, {150, 155})));
    log.add(as_activity(kernel("inside", 4, {500, 510})));
    for (const char* wanted : {"step 1", "step*"}) {
        const Records made = records(log, labels, {.only_within = wanted});
        CHECK_FALSE(made.record(log.kernels()[0]));
        CHECK(made.record(log.kernels()[1]));
        CHECK_FALSE(made.record(log.calls()[0]));
        CHECK(made.record(log.calls()[1]));
        CHECK(made.record(log.ranges()[0]));
        CHECK_FALSE(made.record(log.ranges()[1]));
    }
    CHECK_FALSE(records(log, labels, {.only_within = "step"}).record(log.kernels()[1]));
}

TEST_CASE("copies and fills have their kind, bytes and memories")
{
    ActivityLog log;
    const Labels labels;
    log.add(as_activity(copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 4096, 1, {10, 20})));
    log.add(as_activity(copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 1, 2, {10, 20})));
    log.add(as_activity(copy(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, 1, 2, {10, 20})));
    PeerCopyLayout peer{};
    peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    peer.bytes = 77;
    peer.correlationId = 9;
    log.add(as_activity(peer));
    FillLayout fill{};
    fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    fill.bytes = 55;
    fill.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    log.add(as_activity(fill));
    const Records made = records(log, labels);
    const auto to_device = made.record(log.copies()[0]);
    CHECK(to_device->kind == CopyKind::host_to_device);
    CHECK(to_device->source == MemoryKind::pinned);
    CHECK(to_device->destination == MemoryKind::device);
    CHECK(to_device->bytes == Bytes{4096});
    CHECK(made.record(log.copies()[1])->kind == CopyKind::device_to_host);
    CHECK(made.record(log.copies()[2])->kind == CopyKind::peer);
    CHECK(made.record(log.copies()[3])->kind == CopyKind::peer);
    CHECK(made.record(log.copies()[3])->bytes == Bytes{77});
    CHECK(made.record(log.copies()[3])->cause.correlation == 9);
    CHECK(made.record(log.copies()[4])->kind == CopyKind::fill);
    CHECK_FALSE(made.record(log.copies()[4])->source);
    CHECK(made.record(log.copies()[4])->destination == MemoryKind::managed);
}

TEST_CASE("allocations and releases, from a pool too, and waits by kind")
{
    ActivityLog log;
    const Labels labels;
    MemoryLayout memory{};
    memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.address = 0xabc;
    memory.bytes = 256;
    memory.timestamp = 1'000'000'000;
    log.add(as_activity(memory));
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    log.add(as_activity(memory));
    log.add(as_activity(kernel("k", 1, {1, 2})));
    WaitLayout wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
    wait.contextId = 5;
    wait.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    wait.start = 10;
    wait.end = 30;
    log.add(as_activity(wait));
    const Records made = records(log, labels);
    const auto allocated = made.record(log.allocations()[0]);
    CHECK(allocated->action == MemoryAction::allocate);
    CHECK(allocated->memory == MemoryKind::device);
    CHECK(allocated->address == 0xabc);
    CHECK(allocated->start->value == Approx(1));
    CHECK(made.record(log.allocations()[1])->action == MemoryAction::release);
    CHECK(made.record(log.allocations()[1])->memory == MemoryKind::pool);
    const auto waited = made.record(log.waits()[0]);
    CHECK(waited->kind == "context");
    CHECK(waited->cause.device == "gpu:1");
    CHECK_FALSE(waited->cause.stream);
    CHECK(waited->duration.value == Approx(20e-9));
}

TEST_CASE("records of unknown kinds are left out, CUPTI's own time is summed")
{
    ActivityLog log;
    CUpti_Activity strange{};
    strange.kind = static_cast<CUpti_ActivityKind>(12345);
    log.add(strange);
    OverheadLayout overhead{};
    overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    overhead.start = 5;
    overhead.end = 25;
    overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION;
    log.add(as_activity(overhead));
    overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;  // the program's own
    log.add(as_activity(overhead));
    CHECK(log.overhead() == 20);
    CHECK(log.size() == 0);
}

TEST_CASE("beyond its limit a log counts what it drops, in addition to what CUPTI dropped")
{
    ActivityLog log(2);
    for (std::uint32_t i = 0; i < 5; ++i) log.add(as_activity(kernel("k", i, {i, i + 1})));
    log.dropped(10);
    CHECK(log.kernels().size() == 2);
    CHECK(log.dropped() == 13);
    log.clear();
    CHECK(log.size() == 0);
    CHECK(log.dropped() == 0);
    log.add(as_activity(kernel("k", 9, {1, 2})));
    CHECK(log.kernels().size() == 1);
}

TEST_CASE("a range without an end is left out, and one that began before the log was cleared is kept")
{
    ActivityLog log;
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_START, 1, "open", 10, 1)));
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_START, 2, "epoch", 10, 1)));
    log.clear();
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_END, 2, nullptr, 50, 1)));
    log.add(as_activity(marker(CUPTI_ACTIVITY_FLAG_MARKER_END, 3, nullptr, 60, 1)));
    REQUIRE(log.ranges().size() == 1);
    CHECK(*log.ranges()[0].name == "epoch");
}

TEST_CASE("activities that began before the recording are left out, even if CUPTI delivers them later")
{
    ActivityLog log;
    const Labels labels;
    log.add(as_activity(kernel("early", 1, {900, 950})));
    log.add(as_activity(kernel("late", 2, {1000, 1100})));
    log.add(as_activity(call(CUPTI_ACTIVITY_KIND_RUNTIME, 211, 1, 4, {890, 895})));
    const Records made = records(log, labels, {.zero = 1000});
    CHECK_FALSE(made.record(log.kernels()[0]));
    CHECK_FALSE(made.record(log.calls()[0]));
    REQUIRE(made.record(log.kernels()[1]));
    CHECK(made.record(log.kernels()[1])->start->value == 0);
}

TEST_CASE("a kernel that CUPTI could not time has no length and no start, and one without a name has no name")
{
    ActivityLog log;
    const Labels labels;
    log.add(as_activity(kernel(nullptr, 1, {0, 0})));
    log.add(as_activity(kernel("k", 2, {30, 20})));
    const Records made = records(log, labels, {.zero = 10});
    CHECK(made.record(log.kernels()[0])->name.empty());
    CHECK_FALSE(made.record(log.kernels()[0])->start);
    CHECK(made.record(log.kernels()[0])->duration.value == 0);
    CHECK(made.record(log.kernels()[1])->duration.value == 0);
}
