#include "workloads/parallel/exchange.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace roof::parallel;

namespace {

using Indices = std::vector<std::size_t>;
constexpr std::size_t quarter = first_bucket_bytes / sizeof(float) / 4;  // numbers

/// Six gradients of equal size that become ready from the last to the first.
Packing six()
{
    std::vector<GradientSize> gradients;
    for (std::size_t i = 0; i < 6; ++i) gradients.push_back({2 * quarter, 5 - i});
    return pack(gradients, 2 * first_bucket_bytes);
}

/// The buckets that an exchange starts as gradients become ready.
class Started {
  public:
    explicit Started(const Packing& packing)
        : order_(packing, Mode::overlapped,
                 {.communication_follows_step = [] {},
                  .step_follows_communication = [] {},
                  .mean =
                      [this](const Bucket& bucket, Reach) {
                          const auto is_it = [&](const Bucket& one) { return one.begin == bucket.begin; };
                          const auto& all = order_.packing().buckets;
                          new_.push_back(static_cast<std::size_t>(std::ranges::find_if(all, is_it) - all.begin()));
                      },
                  .broadcast_parameters = [] {}})
    {
        order_.begin();
    }
    Indices ready(std::size_t gradient)
    {
        new_.clear();
        order_.ready(gradient);
        return new_;
    }
    ExchangeOrder& order() { return order_; }

  private:
    Indices new_;
    ExchangeOrder order_;
};

}  // namespace

TEST_CASE("gradients are stored in order of readiness, without overlap")
{
    const Packing packing = pack({{10, 7}, {97, 3}, {16, 7}}, 1 << 20);
    CHECK(packing.begins == Indices{128, 0, 112});
    CHECK(packing.count == 144);
}

TEST_CASE("the first bucket is small, the others have at least the requested size, and no gradient is divided")
{
    const Packing packing = six();
    REQUIRE(packing.buckets.size() == 2);
    CHECK(packing.buckets[0].gradients == Indices{5, 4});
    CHECK(packing.buckets[1].gradients == Indices{3, 2, 1, 0});
    CHECK(packing.buckets[1].begin == packing.buckets[0].count);
    CHECK(packing.buckets[0].count + packing.buckets[1].count == packing.count);
}

TEST_CASE("with a bucket size of zero each gradient has its own bucket")
{
    CHECK(pack({{10, 0}, {10, 1}, {10, 2}}, 0).buckets.size() == 3);
}

TEST_CASE("a bucket starts when its last gradient is ready")
{
    const Packing packing = six();
    Started schedule(packing);
    CHECK(schedule.ready(5).empty());
    CHECK(schedule.ready(4) == Indices{0});
    for (const std::size_t gradient : {3, 2, 1}) CHECK(schedule.ready(gradient).empty());
    CHECK_THROWS_AS(schedule.order().finish(), std::logic_error);
    CHECK(schedule.ready(0) == Indices{1});
    CHECK_NOTHROW(schedule.order().finish());
}

TEST_CASE("a full bucket waits for the previous ones, so that all ranks start them in the same order")
{
    const Packing packing = six();
    Started schedule(packing);
    for (const std::size_t gradient : {0, 1, 2, 3, 5}) CHECK(schedule.ready(gradient).empty());
    CHECK(schedule.ready(4) == Indices{0, 1});
}

TEST_CASE("each gradient is ready once in a pass")
{
    const Packing packing = six();
    Started schedule(packing);
    schedule.ready(5);
    CHECK_THROWS_AS(schedule.ready(5), std::logic_error);
    schedule.order().begin();
    CHECK_NOTHROW(schedule.ready(5));
}

TEST_CASE("in any order of readiness every bucket starts once and in order")
{
    std::mt19937 random(7);
    std::vector<GradientSize> gradients;
    for (std::size_t i = 0; i < 40; ++i) gradients.push_back({1 + random() % quarter, random() % 9});
    const Packing packing = pack(gradients, first_bucket_bytes);
    Started schedule(packing);
    Indices order(gradients.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    Indices started;
    for (const std::size_t gradient : order) {
        for (const std::size_t bucket : schedule.ready(gradient)) started.push_back(bucket);
    }
    REQUIRE(started.size() == packing.buckets.size());
    for (std::size_t i = 0; i < started.size(); ++i) CHECK(started[i] == i);
}
