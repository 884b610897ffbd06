// What a calibration plans on machines with many cores: thread counts, placements, NUMA pairs, rows and time.
#include "cpu/probes/choices.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "tests/cpu/synthetic_machine.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include <hwloc.h>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;

namespace {

using Counts = std::vector<int>;
using Pairs = std::set<std::pair<std::string, std::string>>;

/// 2 x 56 cores with two hardware threads each, four NUMA nodes per socket.
const SyntheticMachine xeon{
    "pack:2 l3:1(size=110100480) group:4 [numa(memory=68719476736)] core:14 l2:1(size=2097152) l1d:1(size=49152) pu:2"};
/// 96 cores in twelve groups of eight, one NUMA node.
const SyntheticMachine epyc{
    "pack:1 [numa(memory=412316860416)] l3:12(size=33554432) core:8 l2:1(size=1048576) l1d:1(size=49152) pu:2"};

// Like them with fewer cores in each group: a calibration starts as many threads for each of its rows.
const SyntheticMachine small_xeon{
    "pack:2 l3:1(size=110100480) group:4 [numa(memory=68719476736)] core:3 l2:1(size=2097152) l1d:1(size=49152) pu:2"};
const SyntheticMachine small_epyc{
    "pack:1 [numa(memory=412316860416)] l3:12(size=33554432) core:2 l2:1(size=1048576) l1d:1(size=49152) pu:2"};

/// The cores with numbers below `slow` are the slow ones.
void mark_slow_cores(hwloc_topology_t topology, int slow)
{
    const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    hwloc_bitmap_t kind = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(kind, 0, slow - 1);
    hwloc_cpukinds_register(topology, kind, 0, 0, nullptr, 0);
    hwloc_bitmap_zero(kind);
    hwloc_bitmap_set_range(kind, static_cast<unsigned>(slow), all - 1);
    hwloc_cpukinds_register(topology, kind, 1, 0, nullptr, 0);
    hwloc_bitmap_free(kind);
}

/// 16 slow cores, then 8 fast ones. (A synthetic topology gives all cores one hardware thread or all two.)
const SyntheticMachine hybrid{"pack:1 [numa] l3:1(size=37748736) core:24 l2:1(size=2097152) l1d:1(size=49152) pu:1",
                              {},
                              0,
                              [](hwloc_topology_t topology) { mark_slow_cores(topology, 16); }};

/// 3.5 processors' worth of time, on eight processors of two sockets of a larger machine.
const SyntheticMachine container{"pack:2 [numa] l3:1(size=33554432) core:8 l2:1(size=1048576) l1d:1(size=32768) pu:2",
                                 {12, 13, 14, 15, 16, 17, 18, 19},
                                 3.5};

Plan calibration()
{
    return load_plan(std::filesystem::path(ROOF_PLANS) / "calibrate/cpu.yaml");
}

/// A calibration of a synthetic machine on a clock turned by hand.
struct Calibration {
    explicit Calibration(const SyntheticMachine& machine) : registry(registry_of(machine, time))
    {
        const Scheduler scheduler(calibration(), registry);
        const double begin = *time.now;
        for (auto items = scheduler.next(rows); !items.empty(); items = scheduler.next(rows)) {
            for (const Item& item : items) rows.push_back(measure(item, registry, time.clock()));
        }
        seconds = *time.now - begin;
    }

    /// The values of an axis in the rows of a bench.
    std::set<std::string> values_of(const std::string& bench, const std::string& axis) const
    {
        std::set<std::string> found;
        for (const Measurement& row : rows)
            if (row.bench == bench && row.status == Status::ok && row.point.has(axis))
                found.insert(row.point.text(axis));
        return found;
    }

    /// The thread counts of a bench's rows, each core before a second thread of any.
    std::set<std::string> threads_of(const std::string& bench) const
    {
        std::set<std::string> found;
        for (const Measurement& row : rows) {
            const bool shares = row.point.has("placement") && row.point.text("placement") == "siblings";
            if (row.bench == bench && row.status == Status::ok && !shares) found.insert(row.point.text("threads"));
        }
        return found;
    }

    Pairs numa_pairs() const
    {
        Pairs pairs;
        for (const Measurement& row : rows)
            if (row.bench == "numa" && row.status == Status::ok)
                pairs.emplace(row.point.text("cpu_node"), row.point.text("memory_node"));
        return pairs;
    }

    std::set<std::string> operations(const std::string& threads) const
    {
        std::set<std::string> found;
        for (const Measurement& row : rows)
            if (row.bench == "bandwidth" && row.status == Status::ok && row.point.text("threads") == threads)
                found.insert(row.point.text("operation"));
        return found;
    }

    fakes::ManualClock time;
    BenchRegistry registry;
    std::vector<Measurement> rows;
    double seconds = 0;
};

void check_rows(const Calibration& calibration, const std::set<std::string>& threads)
{
    for (const char* bench : {"bandwidth", "flops", "ert"}) {
        CAPTURE(bench);
        CHECK(calibration.threads_of(bench) == threads);
    }
    const std::set<std::string> operations{"load", "store", "store_nt", "copy", "copy_nt", "update", "triad"};
    for (const std::string& count : threads) {
        CAPTURE(count);
        const std::set<std::string> found = calibration.operations(count);
        CHECK(std::ranges::includes(found, operations));
    }
    for (const Measurement& row : calibration.rows) {
        CAPTURE(row.id());
        CHECK(row.status != Status::failed);
        if (row.status == Status::unsupported) CHECK_FALSE(row.reason.empty());
    }
    CHECK(calibration.seconds <= 60);
}

}  // namespace

TEST_CASE("a Xeon with two sockets and eight NUMA nodes is measured by core, node, socket, all cores and all threads")
{
    const ProbeContext context = context_of(xeon);
    CHECK(context.thread_counts == Counts{1, 14, 56, 112, 224});
    const auto near = [&](int count) {
        std::set<int> sockets;
        for (int i = 0; i < count; ++i) sockets.insert(context.processors.spread[static_cast<std::size_t>(i)] / 112);
        return sockets.size();
    };
    CHECK(near(14) == 1);
    CHECK(near(56) == 1);
    CHECK(near(112) == 2);
    const std::vector<int>& first_node = context.nodes.front().processors.spread;
    CHECK(std::equal(first_node.begin(), first_node.begin() + 14, context.processors.spread.begin()));
}

TEST_CASE("a calibration of such a Xeon pairs one node of each socket with all nodes, in at most a minute")
{
    const Calibration calibration(small_xeon);
    check_rows(calibration, {"1", "3", "12", "24", "48"});
    Pairs expected;
    for (const char* cpu : {"0", "4"})
        for (int memory = 0; memory < 8; ++memory) expected.emplace(cpu, std::to_string(memory));
    CHECK(calibration.numa_pairs() == expected);
    CHECK(calibration.values_of("flops", "placement") == std::set<std::string>{"cores", "siblings"});
}

TEST_CASE("an EPYC with 96 cores is measured with one, 96 and 192 threads, in at most a minute")
{
    CHECK(context_of(epyc).thread_counts == Counts{1, 96, 192});
    const Calibration calibration(small_epyc);
    check_rows(calibration, {"1", "24", "48"});
    CHECK(calibration.numa_pairs().empty());
}

TEST_CASE("a hybrid CPU is measured on its fast cores first")
{
    const ProbeContext context = context_of(hybrid);
    CHECK(context.thread_counts == Counts{1, 8, 24});
    CHECK(context.processors.spread.front() == 16);
    CHECK(context.processors.spread[8] == 0);
    const Layout layout = synthetic_layout(hybrid.description, hybrid.allowed, hybrid.prepare);
    CHECK(layout.alike.near == std::vector<int>{16, 17, 18, 19, 20, 21, 22, 23});
    const Calibration calibration(hybrid);
    check_rows(calibration, {"1", "8", "24"});
    CHECK(calibration.values_of("flops", "placement") == std::set<std::string>{"cores"});
}

TEST_CASE("a container uses as many processors as its quota keeps busy, within its cpuset")
{
    const ProbeContext context = context_of(container);
    CHECK(context.processors.spread == std::vector<int>{12, 14, 16});
    CHECK(context.thread_counts == Counts{1, 2, 3});  // two cores of the cpuset are near the first node
    const Calibration calibration(container);
    check_rows(calibration, {"1", "2", "3"});
    CHECK(calibration.numa_pairs() == Pairs{{"0", "0"}, {"0", "1"}, {"1", "0"}, {"1", "1"}});
}
