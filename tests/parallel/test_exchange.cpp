// The exchange of a step with a manual clock, then with ranks in threads.
#include "ert/base/error.hpp"
#include "tests/parallel/threads.hpp"
#include "workloads/parallel/exchange.hpp"

#include <catch2/catch.hpp>

#include <atomic>

using namespace roof;
using namespace roof::parallel;

namespace {

/// One rank of two, whose reductions take three seconds of a manual clock after they are released.
struct SlowLink {
    std::atomic<double> now{0};
    std::atomic<bool> open{false};
    std::vector<float> memory;
    Clock clock = [this] { return Seconds{now}; };

    std::shared_ptr<Communicator> communicator();
};

/// Makes the calls of an exchange on one rank.
class SlowRank : public Communicator {
  public:
    explicit SlowRank(SlowLink& link) : Communicator(0, 2, "a slow link"), link_(link) {}

    std::span<float> block(std::size_t count) override
    {
        link_.memory.resize(count);
        return link_.memory;
    }
    void mean(std::span<float>, Reach) override
    {
        while (!link_.open) std::this_thread::yield();
        link_.now = link_.now + 3;
    }
    void sum(std::span<double>) override {}
    void broadcast(std::span<std::byte>, int) override { link_.now = link_.now + 2; }
    void fail(const std::string&) override {}
    void watch(Seconds, const std::string&) override {}

  private:
    SlowLink& link_;
};

std::shared_ptr<Communicator> SlowLink::communicator()
{
    return std::make_shared<SlowRank>(*this);
}

class BrokenRank : public SlowRank {
  public:
    using SlowRank::SlowRank;
    void mean(std::span<float>, Reach) override { throw Error("the link is down"); }
};

Packing two_buckets()
{
    return pack({{16, 1}, {16, 0}}, 0);
}

/// Every gradient is rank + index. Returns it after the exchange, and whether this rank updates.
std::pair<std::vector<float>, bool> exchanged(Communicator& communicator, Mode mode)
{
    const Clock clock = steady_clock();
    const Packing packing = pack({{1000, 2}, {3, 1}, {70000, 0}}, 4096);
    Exchange exchange(shared(communicator), packing, mode, clock);
    std::vector<float> found;
    exchange.begin({});
    for (const std::size_t gradient : {2, 1, 0}) {
        const std::size_t count = std::vector<std::size_t>{1000, 3, 70000}[gradient];
        std::fill_n(exchange.gradient(gradient), count, static_cast<float>(communicator.rank + 10 * gradient));
        exchange.ready(gradient);
    }
    exchange.finish();
    for (const std::size_t gradient : {0, 1, 2}) found.push_back(*exchange.gradient(gradient));
    return {found, exchange.updates()};
}

}  // namespace

TEST_CASE("an all-reduce that ends before the backward pass is hidden, one that starts at its end is exposed")
{
    SlowLink link;
    Exchange exchange(link.communicator(), two_buckets(), Mode::overlapped, link.clock);
    exchange.begin({});
    exchange.ready(1);
    link.open = true;
    while (link.now < 3) std::this_thread::yield();
    exchange.ready(0);
    while (link.now < 6) std::this_thread::yield();
    const Communication hidden = exchange.finish();
    CHECK(hidden.exposed.value == 0);
    CHECK(hidden.hidden.value == Approx(6));
    CHECK(hidden.bytes == Bytes{128});
    exchange.begin({});
    exchange.ready(1);
    exchange.ready(0);
    while (link.now < 12) std::this_thread::yield();
    const Communication again = exchange.finish();
    CHECK(again.exposed.value == 0);
    CHECK(again.hidden.value == Approx(6));

    Exchange serial(link.communicator(), two_buckets(), Mode::serial, link.clock);
    serial.begin({});
    serial.ready(1);
    serial.ready(0);
    CHECK(link.now == 12);
    const Communication exposed = serial.finish();
    CHECK(exposed.exposed.value == Approx(6));
    CHECK(exposed.hidden.value == 0);

    Exchange broadcast(link.communicator(), two_buckets(), Mode::broadcast, link.clock);
    std::vector<float> parameters(8);
    for (int step = 0; step < 2; ++step) {
        broadcast.begin({std::as_writable_bytes(std::span(parameters))});
        broadcast.ready(0);
        broadcast.ready(1);
        const Communication cost = broadcast.finish();
        CHECK(cost.exposed.value == Approx(2 + 6));
        CHECK(cost.hidden.value == 0);
    }
}

TEST_CASE("a pass that omits a gradient is an engine error")
{
    SlowLink link;
    link.open = true;
    Exchange exchange(link.communicator(), two_buckets(), Mode::overlapped, link.clock);
    exchange.begin({});
    exchange.ready(1);
    CHECK_THROWS_AS(exchange.finish(), std::logic_error);
}

TEST_CASE("a failed reduction ends the step with its message")
{
    SlowLink link;
    Exchange exchange(std::make_shared<BrokenRank>(link), two_buckets(), Mode::serial, link.clock);
    exchange.begin({});
    exchange.ready(1);
    exchange.ready(0);
    CHECK_THROWS_WITH(exchange.finish(), "the link is down");
}

TEST_CASE("all ranks have the mean of their gradients, or only the first if it updates for all")
{
    for (const Mode mode : {Mode::overlapped, Mode::serial, Mode::broadcast}) {
        const auto complaints = on_ranks(4, [mode](Communicator& communicator) {
            const auto [found, updates] = exchanged(communicator, mode);
            if (updates != (mode != Mode::broadcast || communicator.rank == 0)) throw Error("who updates");
            if (updates && found != std::vector<float>{1.5F, 11.5F, 21.5F}) throw Error("a wrong mean");
        });
        CHECK(complaints == std::vector<std::string>(4));
    }
}

TEST_CASE("in mode broadcast all ranks have the first rank's parameters before the forward pass")
{
    const auto complaints = on_ranks(2, [](Communicator& communicator) {
        const Clock clock = steady_clock();
        Exchange exchange(shared(communicator), two_buckets(), Mode::broadcast, clock);
        std::vector<float> parameters(300'000, static_cast<float>(7 + communicator.rank));
        exchange.begin({std::as_writable_bytes(std::span(parameters))});
        if (parameters.front() != 7 || parameters.back() != 7) throw Error("not those of the first");
        exchange.ready(0);
        exchange.ready(1);
        if (exchange.finish().bytes != Bytes{128 + 300'000 * sizeof(float)}) throw Error("wrong bytes");
        exchange.begin({std::as_writable_bytes(std::span(parameters))});
        exchange.ready(0);
        exchange.ready(1);
        if (exchange.finish().bytes != Bytes{128 + 300'000 * sizeof(float)}) throw Error("bytes of both steps");
    });
    CHECK(complaints == std::vector<std::string>(2));
}

TEST_CASE("an unknown mode of communication is an error that lists the known ones")
{
    CHECK_THROWS_WITH(parse_enum<Mode>("overlaped"), Catch::Contains("did you mean 'overlapped'?"));
}
