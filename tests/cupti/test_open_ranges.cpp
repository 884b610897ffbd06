// The open ranges of threads: the layer and phase they name, and the labels of graph nodes made within them.
#include "ert/cupti/subscriber.hpp"
#include "fake_functions.hpp"

#include <catch2/catch.hpp>

using namespace roof::cupti;

TEST_CASE("the innermost open range that is neither step nor phase is the layer, the innermost phase the phase")
{
    OpenRanges ranges;
    for (const char* name : {"step 3", "forward", "block1", "conv1"}) ranges.push(1, nullptr, name);
    CHECK(ranges.label(1) == Label{"conv1", "forward"});
    CHECK(ranges.is_within("step*"));
    CHECK(ranges.is_within("conv1"));
    CHECK_FALSE(ranges.is_within("step"));
    ranges.pop(1, nullptr);
    CHECK(ranges.label(1) == Label{"block1", "forward"});
    for (int i = 0; i < 9; ++i) ranges.pop(1, nullptr);
    CHECK(ranges.label(1) == Label{});
    CHECK_FALSE(ranges.is_within("step*"));
}

TEST_CASE("a thread without a phase has the phase opened last on any thread")
{
    OpenRanges ranges;
    ranges.push(1, nullptr, "forward");
    ranges.push(2, nullptr, "backward");
    ranges.push(3, nullptr, "conv1");
    CHECK(ranges.label(3) == Label{"conv1", "backward"});
    CHECK(ranges.label(4) == Label{"", "backward"});
    CHECK(ranges.label(1) == Label{"", "forward"});
}

TEST_CASE("ranges of two domains need not nest")
{
    OpenRanges ranges;
    const int other = 0;
    ranges.push(1, nullptr, "ours");
    ranges.push(1, &other, "theirs");
    ranges.pop(1, nullptr);
    CHECK(ranges.label(1).layer == "theirs");
    ranges.pop(1, &other);
    CHECK(ranges.label(1).layer.empty());
}

TEST_CASE("nodes of a graph and their clones keep the ranges of their capture after these are closed")
{
    Labels labels;
    Subscriber subscriber(Cupti::open({ROOF_FAKE_CUPTI}), labels);
    const auto node = made::fake<decltype(fake_node)>("fake_node");
    const auto clone = made::fake<decltype(fake_clone)>("fake_clone");
    made::push("backward");
    node(10);
    CHECK(labels.of_node(10) == 0);  // nobody followed the ranges
    subscriber.follow_ranges();
    made::push("backward");
    made::push("conv2");
    node(11);
    made::pop();
    made::pop();
    node(12);
    clone(111, 11);
    clone(1111, 111);
    CHECK(labels.label_of(labels.of_node(1111)) == Label{"conv2", "backward"});
    CHECK(labels.of_node(12) == 0);
    Subscriber::label_calls(labels.number_of({"fc", "forward"}));
    node(13);
    Subscriber::label_calls(0);
    CHECK(labels.label_of(labels.of_node(13)) == Label{"fc", "forward"});
}
