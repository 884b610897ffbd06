#include "ert/method/bench/measurement.hpp"
#include "workloads/parallel/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::parallel;

namespace {

Point point_of(const std::vector<std::pair<std::string, std::string>>& values)
{
    Point point;
    point.set("batch", "8");
    for (const auto& [axis, value] : values) point.set(axis, value);
    return point;
}

}  // namespace

TEST_CASE("a point without rank axes has one rank, with the defaults of DistributedDataParallel")
{
    const Options options = options_of(point_of({}));
    CHECK(options.ranks == 1);
    CHECK(options.batch == 8);
    CHECK(options.mode == Mode::overlapped);
    CHECK(options.bucket_bytes == 25'000'000);
    CHECK_FALSE(options.synchronised_batch_norm);
    CHECK_NOTHROW(options_of(Point()));
}

TEST_CASE("strong scaling divides the batch, weak scaling gives the whole batch to each rank")
{
    CHECK(options_of(point_of({{"ranks", "4"}, {"scaling", "strong"}})).batch == 2);
    CHECK(options_of(point_of({{"ranks", "4"}, {"scaling", "weak"}})).batch == 8);
    CHECK(options_of(point_of({{"ranks", "4"}})).batch == 8);
}

TEST_CASE("a batch that cannot be divided evenly is unsupported")
{
    CHECK_FALSE(unsupported_reason(point_of({{"ranks", "4"}, {"scaling", "strong"}})));
    CHECK_THAT(unsupported_reason(point_of({{"ranks", "3"}, {"scaling", "strong"}})).value(),
               Catch::Contains("cannot be shared out evenly among 3 ranks"));
    CHECK_FALSE(unsupported_reason(point_of({{"ranks", "3"}})));
}

TEST_CASE("every axis is read, is optional, and has a column")
{
    const Options options =
        options_of(point_of({{"communication", "broadcast"}, {"bucket_mb", "5"}, {"batch_norm", "synchronised"}}));
    CHECK(options.mode == Mode::broadcast);
    CHECK(options.bucket_bytes == 5'000'000);
    CHECK(options.synchronised_batch_norm);
    for (const Axis& axis : axes()) {
        CHECK(axis.optional);
        if (axis.name == "ranks" || axis.name == "bucket_mb") CHECK(axis.min == 1);
        if (axis.name == "ranks") CHECK(axis.max == 4096);
        CHECK(std::ranges::count(axis_names(), axis.name) == 1);
    }
}
