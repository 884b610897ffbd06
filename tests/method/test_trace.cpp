// The events that a trace sends to a listener, and the times measured by a device.
#include "ert/method/bench/trace.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

Clock standing()
{
    return [] { return Seconds{1}; };
}

}  // namespace

TEST_CASE("a listener is called at the begin and end of each part, timed or only launched")
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

TEST_CASE("the time of a part is that of the device's events, until the trace is reset")
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
