#include "ert/cupti/range_index.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;

namespace {

std::vector<std::string> names(const std::vector<const RangeActivity*>& ranges)
{
    std::vector<std::string> made;
    for (const RangeActivity* range : ranges) made.push_back(*range->name);
    return made;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a moment is found in the ranges of its thread that contain it, innermost first")
{
    const std::string step = "step", conv = "conv", relu = "relu", other = "other";
    const std::deque<RangeActivity> ranges{
        {20, 30, 1, RangeKind::nvtx, &conv},
        {10, 100, 1, RangeKind::nvtx, &step},
        {40, 60, 1, RangeKind::nvtx, &relu},
        {0, 200, 2, RangeKind::nvtx, &other},
    };
    const RangeIndex index(ranges);
    CHECK(names(index.around(1, 25)) == Names{"conv", "step"});
    CHECK(names(index.around(1, 35)) == Names{"step"});
    CHECK(names(index.around(1, 60)) == Names{"relu", "step"});
    CHECK(index.around(1, 5).empty());
    CHECK(index.around(1, 101).empty());
    CHECK(index.around(3, 25).empty());
    CHECK(names(index.around(2, 25)) == Names{"other"});
}

TEST_CASE("ranges that begin together nest by their ends, and the later of two crossing ranges is the inner one")
{
    const std::string outer = "outer", inner = "inner", late = "late";
    const std::deque<RangeActivity> ranges{{10, 20, 1, RangeKind::nvtx, &inner},
                                           {10, 50, 1, RangeKind::nvtx, &outer},
                                           {30, 70, 1, RangeKind::nvtx, &late}};
    const RangeIndex index(ranges);
    CHECK(names(index.around(1, 15)) == Names{"inner", "outer"});
    CHECK(names(index.around(1, 60)) == Names{"late"});
    CHECK(names(index.around(1, 40)).front() == "late");
}

TEST_CASE("the phase comes from any thread that names one")
{
    const std::string backward = "backward", op = "aten::mul";
    const std::deque<RangeActivity> ranges{{10, 50, 1, RangeKind::nvtx, &backward}, {20, 30, 2, RangeKind::nvtx, &op}};
    const RangeIndex index(ranges);
    REQUIRE(index.phase_at(25) != nullptr);
    CHECK(*index.phase_at(25)->name == "backward");
    CHECK(index.phase_at(55) == nullptr);
}

TEST_CASE("the kind of a range follows from its name")
{
    CHECK(phase_in("Forward pass") == "forward");
    CHECK(phase_in("DistributedDataParallel.forward") == "forward");
    CHECK(phase_in("nccl:all_reduce") == "synchronise");
    CHECK(phase_in("Optimizer.step#SGD.step") == "update");
    CHECK(phase_in("autograd::engine::evaluate_function: AddBackward0") == "backward");
    CHECK(phase_in("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == "data");
    CHECK(phase_in("DataParallel.forward").empty());
    for (const char* name : {"loss.backward()", "Criterion: and backward", "backward(loss)", "backward 2 backward"})
        CHECK(phase_in(name) == "backward");
    for (const char* name :
         {"forward_backward", "forward and and backward", "fwd-bwd", "backward/update", "opt forward"})
        CHECK(phase_in(name).empty());
    CHECK(phase_in("layer1.0.conv1").empty());
    CHECK(phase_in("").empty());
    CHECK(kind_in("step 12") == RangeKind::step);
    for (const char* const step :
         {"iteration", "Iteration 7", "batch=3", "Step 3 / 10", "step[DECODE bs=1]", "step (4)"})
        CHECK(kind_in(step) == RangeKind::step);
    for (const char* const other : {"batch_norm", "batch_to_device", "step optimizer", "step_0.1: get next batch"})
        CHECK(kind_in(other) == RangeKind::nvtx);
    CHECK(kind_in("ProfilerStep#3") == RangeKind::step);
    CHECK(kind_in("backward") == RangeKind::phase);
    CHECK(kind_in("conv1") == RangeKind::nvtx);
}
