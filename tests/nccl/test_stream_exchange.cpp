// The order of an exchange's operations in streams, and NCCL's type numbers.
#include "ert/base/error.hpp"
#include "workloads/nccl/device_exchange.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace roof;
using namespace roof::nccl;
using parallel::Mode;
using parallel::Reach;

namespace {

using Words = std::vector<std::string>;

/// Records the operations that are enqueued in streams.
struct Diary {
    Words lines;

    parallel::ExchangeOperations operations()
    {
        return {.communication_follows_step = [this] { lines.emplace_back("communication follows step"); },
                .step_follows_communication = [this] { lines.emplace_back("step follows communication"); },
                .mean =
                    [this](const parallel::Bucket& bucket, Reach reach) {
                        lines.push_back("mean of " + std::to_string(bucket.gradients.front()) +
                                        (reach == Reach::all ? "" : " to the first"));
                    },
                .broadcast_parameters = [this] { lines.emplace_back("broadcast"); }};
    }
};

/// Runs a step of two gradients with a bucket each; the second is ready first.
Words step_in(Mode mode)
{
    Diary diary;
    parallel::ExchangeOrder exchange(parallel::pack({{16, 1}, {16, 0}}, 0), mode, diary.operations());
    exchange.begin();
    diary.lines.emplace_back("forward");
    exchange.ready(1);
    diary.lines.emplace_back("backward");
    exchange.ready(0);
    exchange.finish();
    return diary.lines;
}

}  // namespace

TEST_CASE("an all-reduce follows the kernels of its bucket and overlaps the rest of the backward pass")
{
    CHECK(step_in(Mode::overlapped) == Words{"forward", "communication follows step", "mean of 1", "backward",
                                             "communication follows step", "mean of 0", "step follows communication"});
}

TEST_CASE("serial communication follows the whole backward pass and precedes the update")
{
    CHECK(step_in(Mode::serial) == Words{"forward", "backward", "communication follows step", "mean of 1", "mean of 0",
                                         "step follows communication"});
}

TEST_CASE("parameters come from the first rank before the forward pass, and it receives the gradients")
{
    CHECK(step_in(Mode::broadcast) == Words{"communication follows step", "broadcast", "step follows communication",
                                            "forward", "backward", "communication follows step",
                                            "mean of 1 to the first", "mean of 0 to the first",
                                            "step follows communication"});
}

TEST_CASE("a backward pass that omits a gradient is an engine error in every mode")
{
    Diary diary;
    parallel::ExchangeOrder exchange(parallel::pack({{16, 1}, {16, 0}}, 0), Mode::serial, diary.operations());
    exchange.begin();
    exchange.ready(1);
    CHECK_THROWS_AS(exchange.finish(), std::logic_error);
}

TEST_CASE("NCCL's type numbers equal those of nccl.h, and other types are refused")
{
    CHECK(nccl_type(Precision::fp16) == 6);
    CHECK(nccl_type(Precision::fp32) == 7);
    CHECK(nccl_type(Precision::bf16) == 9);
    CHECK_THROWS_AS(nccl_type(Precision::int8), Unsupported);
}
