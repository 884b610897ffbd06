// Two runs of one folder, and a last step that fails.
#include "ert/base/error.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;
using namespace roof::tests;
using Catch::Contains;

TEST_CASE("a run whose lock was removed stops before another one's rows, and all rows are kept")
{
    const auto rows = measured();
    const TemporaryFolder folder;
    RunDirectory first(folder / "run", plan_text, fake_machine());
    first.append(rows[0]);
    std::filesystem::remove(folder / "run" / ".lock");
    {
        RunDirectory second(folder / "run", plan_text, fake_machine());
        CHECK_THROWS_WITH(first.check_lock(), Contains("was removed or replaced"));
        CHECK_THROWS_WITH(first.append(rows[1]), Contains("was removed or replaced"));
        second.append(rows[1]);
        second.append(rows[2]);
        CHECK_NOTHROW(second.close());
    }
    const Results back = read_results(folder / "run");
    CHECK(back.damage.empty());
    CHECK(back.remarks.empty());
    CHECK(back.rows.size() == 3);
}

TEST_CASE("a session that cannot write its checksums says so")
{
    const TemporaryFolder folder;
    RunDirectory run(folder / "run", plan_text, fake_machine());
    run.append(measured()[0]);
    std::filesystem::remove(folder / "run" / "checksums.csv");
    std::filesystem::create_directory(folder / "run" / "checksums.csv");
    CHECK_THROWS_WITH(run.close(), Contains("checksums.csv"));
    CHECK_NOTHROW(run.close());  // once
}
