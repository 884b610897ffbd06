// A fixed share of the zoo in the suite: the whole command on a few machines. The full figures come from `roof-zoo`.
#include "ert/method/bench/level.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/zoo/report.hpp"
#include "tests/zoo/run.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::zoo;

namespace {

const Kind& kind_named(std::string_view name)
{
    for (const Kind& kind : all_kinds())
        if (kind.name == name) return kind;
    throw std::logic_error("no such kind");
}

Tally tally_of(std::string_view kind, std::size_t machines, int looks)
{
    return run({.kinds = {&kind_named(kind)}, .machines = machines, .threads = 2, .looks = looks}).front();
}

double share(std::size_t part, std::size_t of)
{
    return static_cast<double>(part) / static_cast<double>(of);
}

}  // namespace

TEST_CASE("a quiet machine with sharp edges has its levels, and steady ceilings that hold the truth")
{
    const Tally tally = tally_of("quiet sharp", 4, 2);
    CHECK(tally.broken == 0);
    CHECK(tally.statuses == std::map<int, std::size_t>{{0, 4}});
    CHECK(tally.levels_right == 4);
    CHECK(tally.edges_right == tally.edges);
    const GroupTally all = tally.all();
    CHECK(all.ceilings > 4 * 60);
    CHECK(share(all.steady, all.ceilings) >= 0.95);
    CHECK(share(all.steady_holds, all.steady) >= 0.95);
    CHECK(median_of(all.half_widths) <= 0.01);
}

TEST_CASE(
    "where the clock steps, arithmetic that one calibration alone calls steady holds the rate at the mean clock of the "
    "run")
{
    const GroupTally arithmetic = tally_of("clock steps", 8, 0).of(Group::arithmetic);
    REQUIRE(arithmetic.steady >= 20);
    CHECK(share(arithmetic.steady_holds, arithmetic.steady) >= 0.93);
    CHECK(arithmetic.steady_and_low == 0);
}

TEST_CASE("the same seed gives the same calibration, and another kind another machine")
{
    const fakes::TemporaryFolder scratch(fast_folder());
    const Kind& kind = kind_named("bus half, beats");
    const auto text = [&](std::uint64_t seed) {
        const Calibration calibration = calibrate(kind, seed, scratch / "run");
        return show_text(calibration, judge(calibration));
    };
    CHECK(text(5) == text(5));
    CHECK(text(5) != text(6));
    CHECK(seed_of(1, kind, 0) != seed_of(1, kind_named("quiet sharp"), 0));
    CHECK(seed_of(1, kind, 0) != seed_of(1, kind, 1));
    CHECK(seed_of(1, kind, 0) != seed_of(2, kind, 0));
}

TEST_CASE("the functions without the command find what it finds")
{
    const fakes::TemporaryFolder scratch(fast_folder());
    for (const char* const name : {"two rates", "steal, clock misread"}) {
        const Calibration by_command = calibrate(kind_named(name), 8, scratch / "run", 2);
        const Calibration without = calibrate_without_command(kind_named(name), 8, scratch / "other", 2);
        REQUIRE(by_command.rows == without.rows);
        REQUIRE(by_command.ceilings.all.size() == without.ceilings.all.size());
        for (std::size_t i = 0; i < without.ceilings.all.size(); ++i) {
            const Ceiling& one = by_command.ceilings.all[i];
            const Ceiling& other = without.ceilings.all[i];
            CAPTURE(name, one.point);
            CHECK(one.point == other.point);
            CHECK(one.steadiness == other.steadiness);
            CHECK(one.rate.median.value == Approx(other.rate.median.value).epsilon(1e-9));
            CHECK(one.times == other.times);
        }
    }
}

TEST_CASE("the first look at a machine shows nothing steady, and without looks a calibration judges alone")
{
    const fakes::TemporaryFolder scratch(fast_folder());
    const auto steady_after = [&](int looks) {
        const Calibration calibration = calibrate_without_command(kind_named("quiet sharp"), 3, scratch / "run", looks);
        return std::ranges::count_if(calibration.ceilings.all, [](const Ceiling& ceiling) {
            const bool has_looks = level_traits(ceiling.level).kind != LevelKind::path;
            return has_looks && ceiling.steadiness == Steadiness::steady;
        });
    };
    CHECK(steady_after(0) > 30);
    CHECK(steady_after(1) == 0);
    CHECK(steady_after(2) > 30);
}

TEST_CASE("every kind is calibrated to the end")
{
    std::vector<const Kind*> kinds;
    for (const Kind& kind : all_kinds()) kinds.push_back(&kind);
    for (const Tally& tally : run({.kinds = kinds, .seed = 3, .threads = 2, .looks = 0})) {
        CAPTURE(tally.kind->name);
        CHECK(tally.broken == 0);
        CHECK(tally.all().ceilings > 30);
        for (const Group group : groups) CHECK(tally.of(group).ceilings > 0);
        CHECK(tally.seconds.size() == 1);
        CHECK(tally.seconds.front() > 5);
        CHECK(tally.seconds.front() < 34);
    }
}
