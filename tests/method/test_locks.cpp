// Two runs of one folder, a reader beside a run, and a last step that fails.
#include "ert/base/error.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("rows are read while a run makes its other files")
{
    const TemporaryFolder folder;
    const std::vector<std::string> files{"samples.csv", "layers.csv"};
    {
        RunDirectory run(folder / "run", plan_text, fake_machine());
        for (const Measurement& row : measured()) run.append(row);
        CHECK_NOTHROW(run.close());
    }
    for (int round = 0; round < 200; ++round) {
        for (const std::string& file : files) std::filesystem::rename(folder / "run" / file, folder / file);
        std::jthread run([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(5 * round));
            for (const std::string& file : files) std::filesystem::rename(folder / file, folder / "run" / file);
        });
        CHECK(read_results(folder / "run").rows.size() == measured().size());
    }
    CHECK(read_results(folder / "run").damage.empty());
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
    RunDirectory lost(folder / "lost", plan_text, fake_machine());
    std::filesystem::remove(folder / "lost" / ".lock");
    CHECK_THROWS_WITH(lost.close(), Contains("was removed or replaced"));
}
