// The roof of any mix of reads and writes, from measured loops.
#include "analysis/roofline/place.hpp"
#include "analysis/roofline/row_roofs.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <deque>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Its ceiling stays until the end.
MeasuredLoop measured(const std::string& operation, double rate)
{
    static std::deque<Ceiling> ceilings;
    Ceiling& one = ceilings.emplace_back();
    one.operation = operation;
    one.rate.median.value = rate;
    return {&one, access_of(operation).value()};
}

/// A byte read takes 10 ps, a byte read and written in place 16 ps, so an update moves 125 GB/s.
const std::vector<MeasuredLoop> simple{measured("load", 100e9), measured("update", 125e9)};

double rate_of(const std::vector<MeasuredLoop>& loops, double read, double written)
{
    return mix_roof(loops, Bytes{read}, Bytes{written}).value().roof.value;
}

std::string name_of(const std::vector<MeasuredLoop>& loops, double read, double written)
{
    return mix_roof(loops, Bytes{read}, Bytes{written}).value().access;
}

}  // namespace

TEST_CASE("the mix of a measured loop has the rate and the name of that loop")
{
    CHECK(rate_of(simple, 5, 0) == Approx(100e9));
    CHECK(rate_of(simple, 3, 3) == Approx(125e9));
    CHECK(name_of(simple, 5, 0) == "load");
    CHECK(name_of(simple, 3, 3) == "update");
}

TEST_CASE("the times of loops add up for a mix between them")
{
    // two bytes read, one of them updated: 10 ps and 16 ps for three bytes
    CHECK(rate_of(simple, 2, 1) == Approx(3 / (10e-12 + 16e-12)));
    CHECK(rate_of(simple, 3, 1) == Approx(4 / (20e-12 + 16e-12)));
    CHECK(name_of(simple, 2, 1) == "mix 2:1");
    CHECK(name_of(simple, 3.5e6, 1e6) == "mix 3.5:1");
    CHECK(name_of(simple, 70, 1) == "mix 70:1");
    CHECK(name_of(simple, 1418.8, 1) == "mix >99:1");
}

TEST_CASE("a faster loop of the same mix takes the place of two others")
{
    std::vector<MeasuredLoop> loops = simple;
    loops.push_back(measured("accumulate", 140e9));
    CHECK(rate_of(loops, 2, 1) == Approx(140e9));
    CHECK(name_of(loops, 2, 1) == "accumulate");
    loops.back() = measured("accumulate", 90e9);  // slower than a load and an update
    CHECK(rate_of(loops, 2, 1) == Approx(3 / (10e-12 + 16e-12)));
}

TEST_CASE("writes beyond the updates take non-temporal stores if they are measured")
{
    CHECK(rate_of(simple, 0, 1) == Approx(125e9 / 2));  // an update for every byte written
    std::vector<MeasuredLoop> loops = simple;
    loops.push_back(measured("store_nt", 80e9));
    CHECK(rate_of(loops, 0, 1) == Approx(80e9));
    CHECK(rate_of(loops, 1, 2) == Approx(3 / (16e-12 + 12.5e-12)));
    CHECK(name_of(loops, 1, 2) == "mix 1:2");
}

TEST_CASE("a mix that the measured loops cannot do has no roof")
{
    CHECK_FALSE(mix_roof({measured("load", 1e9)}, Bytes{2}, Bytes{1}));
    CHECK_FALSE(mix_roof({}, Bytes{2}, Bytes{1}));
    CHECK_FALSE(mix_roof(simple, Bytes{}, Bytes{}));
    CHECK_FALSE(access_of("chase"));
    CHECK(access_of("y[i]+=alpha*x[i]")->read == Approx(2.0 / 3));
    CHECK(access_of("nontemporal:a[i]=b[i]+c[i]*d[i]")->written == Approx(1.0 / 4));
    CHECK(access_of("dot+=a[i]*b[i]")->read == 1);
}

TEST_CASE("the loops of a level are those of its device and thread count under the usual condition")
{
    Ceilings ceilings;
    const auto add = [&](const char* level, int threads, const char* operation, const char* condition) {
        Ceiling one = made::bandwidth(level, threads, 1e9);
        one.operation = operation;
        one.condition = condition;
        ceilings.all.push_back(one);
    };
    add("L2", 2, "copy", "");
    add("L2", 1, "load", "");
    add("L3", 2, "load", "");
    add("L2", 2, "update", "small pages");
    add("L2", 2, "chase", "");
    const std::vector<MeasuredLoop> found = loops_of(ceilings, "cpu", *ceilings.roof(Role::bandwidth, "cpu", "L2", 2));
    REQUIRE(found.size() == 1);
    CHECK(found.front().ceiling->operation == "copy");
}

TEST_CASE("a layer is placed under the roof of its own reads and writes, and its text names them")
{
    Ceilings ceilings = made::ceilings();  // DRAM loads: 10 GB/s
    Ceiling update = made::bandwidth("DRAM", 2, 20e9);
    update.operation = "update";
    ceilings.all.push_back(update);
    Measurement row = made::row();
    row.parts = {made::part("relu", "relu", Phase::forward, 1e-3, 1e3, 3e6, 3e6)};
    Work& work = row.parts.front().part.work;

    const Placement unknown = place(row, ceilings, made::machine()).back();
    CHECK(unknown.levels.back().roof.value == 20e9);  // the fastest operation
    CHECK(roof_name(unknown, unknown.binds) == "DRAM");

    work.read = Bytes{2e6};
    work.written = Bytes{1e6};
    const auto placements = place(row, ceilings, made::machine());
    const Placement& known = placements.back();
    CHECK(known.levels.back().roof.value == Approx(3 / (0.1e-9 + 0.1e-9)));
    CHECK(known.attainable.value == Approx(3e6 / 15e9));
    CHECK(roof_name(known, known.binds) == "DRAM mix 2:1");
    CHECK(explain(known).find("the DRAM mix 2:1 roof allows") != std::string::npos);
    CHECK(roof_name(placements.front(), placements.front().binds) == "DRAM mix 2:1");  // the step has this part alone
    CHECK(placements.front().attainable.value == Approx(3e6 / 15e9));
}

TEST_CASE("a step of several parts is under the roof of the sum of their times")
{
    Ceilings ceilings = made::ceilings();
    Ceiling update = made::bandwidth("DRAM", 2, 20e9);
    update.operation = "update";
    ceilings.all.push_back(update);
    Measurement row = made::row();
    row.parts = {made::part("a", "relu", Phase::forward, 1e-3, 1e3, 2e6, 2e6),
                 made::part("b", "relu", Phase::forward, 1e-3, 1e3, 2e6, 2e6)};
    row.parts[0].part.work.read = Bytes{2e6};
    row.parts[1].part.work.read = row.parts[1].part.work.written = Bytes{1e6};
    const Placement step = place(row, ceilings, made::machine()).front();
    CHECK(step.levels.back().roof.value == Approx(4e6 / (0.2e-3 + 0.1e-3)));
    CHECK(roof_name(step, step.binds) == "DRAM mix 3:1");
}
