// Counting the kernels of a program: which are counted, under which names, and the notes on the others.
#include "ert/cupti/launch_counter.hpp"
#include "fake_functions.hpp"
#include "variable.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::cupti;
using roof::cupti::made::launch;
using roof::cupti::made::pop;
using roof::cupti::made::push;
using roof::cupti::made::Variable;

namespace {

const std::vector<std::string> metrics{"gpu__time_duration.sum", "lts__t_bytes.sum"};

/// A program, and a counter that is told of its calls.
struct Bed {
    explicit Bed(std::size_t most = 100, const std::string& only_within = "") : counter(cupti, order(most, only_within))
    {
        subscriber.follow_ranges();
        subscriber.set_listener([this](const UpcomingCall& call) { counter.before(call); });
    }
    CountingOrder order(std::size_t most, const std::string& only_within)
    {
        CountingOrder order{{{"GH100", metrics}}, most, {}};
        if (!only_within.empty())
            order.is_wanted = [this, only_within] { return subscriber.ranges().is_within(only_within); };
        return order;
    }
    std::vector<std::string> kernels()
    {
        counter.finish();
        std::vector<std::string> names;
        for (const CounterRecord& record : counter.take())
            if (record.metric == metrics[1])
                names.push_back(record.phase + '/' + record.layer + '/' + record.name + '/' +
                                std::to_string(*record.launch));
        return names;
    }
    bool notes(const std::string& words) const
    {
        const std::vector<std::string> all = counter.notes();
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& note) { return note.find(words) != std::string::npos; });
    }

    std::shared_ptr<const Cupti> cupti = Cupti::open({ROOF_FAKE_CUPTI});
    Labels labels;
    Subscriber subscriber{cupti, labels};
    LaunchCounter counter;
};

}  // namespace

TEST_CASE("each kernel launched is counted under its name, layer and phase, in seconds and on its device")
{
    Bed bed;
    push("forward");
    push("conv1");
    launch("_Z5firstv");
    pop();
    launch("_Z6secondv");
    pop();
    bed.counter.finish();
    const std::vector<CounterRecord> records = bed.counter.take();
    REQUIRE(records.size() == 4);
    CHECK(records[0].device == "gpu:1");
    CHECK(records[0].scope == CounterScope::kernel);
    CHECK(records[0].metric == metrics[0]);
    CHECK(records[0].value == Approx(10e-9));
    CHECK(records[0].unit == "s");
    CHECK(records[0].layer == "conv1");
    CHECK(records[0].phase == "forward");
    CHECK(records[0].name == "first()");
    CHECK(records[3].name == "second()");
    CHECK(records[3].layer.empty());
    CHECK(records[3].launch == 1);
    CHECK(bed.notes("2 kernels were counted"));
}

TEST_CASE("graphs and collectives run with the counters off, and later kernels keep their names")
{
    Bed bed;
    launch("_Z5firstv");
    made::fake<decltype(fake_graph_launch)>("fake_graph_launch")(7);
    launch("_Z6secondv");
    launch("ncclDevKernel_AllReduce");
    launch("_Z5firstv");
    CHECK(bed.kernels() == std::vector<std::string>{"//first()/0", "//second()/1", "//first()/2"});
    CHECK(bed.notes("1 launches of CUDA graphs were not counted"));
    CHECK(bed.notes("1 collectives were not counted"));
}

TEST_CASE("captured launches are not counted, and the counters are off before a capture begins")
{
    Bed bed;
    launch("_Z5firstv");
    made::fake<decltype(fake_begin_capture)>("fake_begin_capture")();
    launch("_Z6secondv");
    made::fake<decltype(fake_graph_launch)>("fake_graph_launch")(7);
    made::fake<decltype(fake_end_capture)>("fake_end_capture")();
    launch("_Z5firstv");
    CHECK(bed.kernels() == std::vector<std::string>{"//first()/0", "//first()/1"});
    CHECK_FALSE(bed.notes("without their names"));
    CHECK_FALSE(bed.notes("graphs"));
}

TEST_CASE("after enough kernels are counted the rest runs uncounted")
{
    Bed bed(3);
    for (int i = 0; i < 5; ++i) {
        CHECK(bed.counter.is_finished() == (i > 3));
        launch("_Z5firstv");
    }
    CHECK(bed.kernels().size() == 3);
}

TEST_CASE("only launches within the wanted ranges are counted")
{
    Bed bed(100, "step*");
    launch("_Z5firstv");
    push("step 1");
    launch("_Z6secondv");
    pop();
    launch("_Z5firstv");
    CHECK(bed.kernels() == std::vector<std::string>{"//second()/0"});
}

TEST_CASE("one context is counted at a time, kernels of others are noted, and its successor is counted")
{
    Bed bed;
    launch("_Z5firstv", 7);
    launch("_Z5firstv", 8);
    made::fake<decltype(fake_end_context)>("fake_end_context")(7);
    launch("_Z6secondv", 9);
    CHECK(bed.kernels() == std::vector<std::string>{"//first()/0", "//second()/1"});
    CHECK(bed.notes("1 kernels were not counted: of another context"));
}

TEST_CASE("kernels are named only if CUPTI counted as many as were launched")
{
    Bed bed;
    launch("_Z5firstv");
    made::fake<decltype(fake_count)>("fake_count")(1, 7);  // one that nobody saw launched
    CHECK(bed.kernels() == std::vector<std::string>{"///0", "///1"});
    CHECK(bed.notes("2 kernels were counted without their names"));
}

TEST_CASE("an error that ends the counting is noted, and the program goes on")
{
    {
        const Variable fails("FAKE_CUPTI_FAILS", "privileges");
        Bed bed;
        launch("_Z5firstv");
        CHECK(bed.counter.is_finished());
        launch("_Z5firstv");
        CHECK(bed.kernels().empty());
        CHECK(bed.notes("CAP_PERFMON"));
    }
    {
        const Variable drops("FAKE_CUPTI_DROPS", "1");
        Bed bed;
        launch("_Z5firstv");
        CHECK(bed.kernels().empty());
        CHECK(bed.notes("hardware counters failed: 5 kernels or stretches more"));
    }
    {
        LaunchCounter neighbour(Cupti::open({ROOF_FAKE_CUPTI}), {{{"GV100", metrics}}, 1, {}});
        neighbour.before({});
        REQUIRE(neighbour.notes().size() == 1);
        CHECK_THAT(neighbour.notes()[0], Catch::Contains("no chip GH100"));
    }
    Bed idle;
    CHECK(idle.kernels().empty());
    CHECK(idle.notes("none was launched by itself"));
}

TEST_CASE("counting ends for a program whose kernels alternate with graphs too often")
{
    Bed bed(1000);
    for (int i = 0; i < 100; ++i) {
        launch("_Z5firstv");
        made::fake<decltype(fake_graph_launch)>("fake_graph_launch")(7);
    }
    CHECK(bed.kernels().size() == 64);
    CHECK(bed.notes("alternate"));
}
