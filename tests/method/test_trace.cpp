// What a trace tells a listener, and what it keeps of times that a device took itself.
#include "ert/method/bench/trace.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

Clock standing()
{
    return [] { return Seconds{1}; };
}

}  // namespace

TEST_CASE("A listener is called when each part begins and ends, timed or only launched")
{
    std::vector<int> heard;
    const PartListener listener{[&](std::size_t part) { heard.push_back(static_cast<int>(part)); },
                                [&] { heard.push_back(-1); }};
    const Clock clock = standing();
    Trace trace(clock, 3);
    trace.set_listener(&listener);
    {
        const Trace::Span span = trace.part(2);
    }
    {
        const Trace::Launching launching = trace.launching(0);
    }
    trace.reset();
    {
        const Trace::Span span = trace.part(1);
    }
    CHECK(heard == std::vector<int>{2, -1, 0, -1, 1, -1});
}

TEST_CASE("A part's time by the device's events is the part's time, until the trace is reset")
{
    const Clock clock = standing();
    Trace trace(clock, 2);
    trace.part_took(1, Seconds{0.25});
    trace.part_took(1, Seconds{0.5});
    CHECK(trace.part_seconds()[0].value == 0);
    CHECK(trace.part_seconds()[1].value == 0.75);
    trace.reset();
    CHECK(trace.part_seconds()[1].value == 0);
}
