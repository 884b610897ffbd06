#include "workloads/parallel/exchange.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::parallel;

namespace {

Interval between(double begin, double end)
{
    return {Seconds{begin}, Seconds{end}};
}

}  // namespace

TEST_CASE("communication during the backward pass is hidden, and exposed while the step waits")
{
    const Communication cost = communication_of({between(2, 5)}, {between(4, 5)}, Bytes{100});
    CHECK(cost.exposed.value == Approx(1));
    CHECK(cost.hidden.value == Approx(2));
    CHECK(cost.bytes == Bytes{100});
}

TEST_CASE("overlapping transfers of one link are counted once")
{
    const Communication cost = communication_of({between(3, 6), between(2, 5), between(8, 9)}, {between(8, 9)}, {});
    CHECK(cost.exposed.value == Approx(1));
    CHECK(cost.hidden.value == Approx(4));
}

TEST_CASE("serial communication hides nothing, and none costs nothing")
{
    const Communication serial = communication_of({between(1, 2), between(2, 3)}, {between(1, 3)}, {});
    CHECK(serial.exposed.value == Approx(2));
    CHECK(serial.hidden.value == Approx(0));
    CHECK(communication_of({}, {}, {}).exposed.value == 0);
}

TEST_CASE("a wait that ends after its transfers is exposed to its end")
{
    CHECK(communication_of({between(1, 2)}, {between(1, 4)}, {}).exposed.value == Approx(3));
}
