// The roofs over an ERT curve.
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("an ERT curve lies under the fastest load of a level, whatever its instructions")
{
    Ceilings ceilings = made::ceilings();
    for (const double rate : {40e9, 60e9, 50e9}) {
        ceilings.all.push_back(made::bandwidth("DRAM", 2, rate));
        ceilings.all.back().operation = "load";
    }
    const Roofs roofs = roofs_over(ceilings, {"cpu", "fp32", 2});
    REQUIRE_FALSE(roofs.levels.empty());
    CHECK(roofs.levels.back()->rate.median.value == 60e9);
}
