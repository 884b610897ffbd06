// What a run that was stopped before its first row leaves, and who may take it over; which run names a damaged one.
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <utility>

using namespace roof;
using namespace roof::fakes;
using namespace roof::tests;

TEST_CASE("a folder without rows is taken over by another plan or machine, and no file of others is removed")
{
    const TemporaryFolder folder;
    const auto place = folder / "run";
    const std::string other_plan = "run: other\n";
    RunDirectory(place, plan_text, fake_machine()).close();
    SECTION("reading it says that there are no rows")
    {
        REQUIRE_THROWS_WITH(read_results(place), Catch::Contains("has no rows: its run was stopped"));
    }
    SECTION("a folder of other files is none of a run")
    {
        REQUIRE_THROWS_WITH(read_results(folder / "."), Catch::Contains("is no results folder"));
    }
    SECTION("another plan and another machine")
    {
        Machine other = fake_machine();
        other.name = "other";
        RunDirectory run(place, other_plan, other);
        run.append(measured()[0]);
        run.close();
        const Results results = read_results(place);
        REQUIRE(results.plan == other_plan);
        REQUIRE(results.machine.name == "other");
        REQUIRE(results.rows.size() == 1);
        REQUIRE(check_results(place).damage.empty());
    }
    SECTION("with the plan, which is written first, alone")
    {
        for (const char* const name : {"machine.yaml", "checksums.csv"}) std::filesystem::remove(place / name);
        CHECK(has_no_row(place));
        CHECK_NOTHROW(RunDirectory(place, plan_text, fake_machine()));
    }
    SECTION("machine.yaml without a plan is the rest of lost results")
    {
        for (const char* const name : {"plan.yaml", "checksums.csv"}) std::filesystem::remove(place / name);
        CHECK_FALSE(has_no_row(place));
        CHECK_THAT(lost_rows(place), Catch::EndsWith("measurements.csv: it is missing"));
        CHECK_THROWS_WITH(RunDirectory(place, plan_text, fake_machine()), Catch::EndsWith("plan.yaml: it is missing"));
        CHECK_FALSE(std::filesystem::exists(place / "plan.yaml"));
    }
    SECTION("with a file beside them, even an unfinished line of a row")
    {
        write_file(place / "samples.csv.cut", "train cpu,0.1");
        REQUIRE_THROWS_WITH(RunDirectory(place, other_plan, fake_machine()), Catch::Contains("give --out another"));
        REQUIRE(read_file(place / "plan.yaml") == plan_text);
        REQUIRE(read_file(place / "samples.csv.cut") == "train cpu,0.1");
    }
    SECTION("with a plan that a person has edited")
    {
        append_file(place / "plan.yaml", "# mine\n");
        REQUIRE_THROWS_WITH(RunDirectory(place, other_plan, fake_machine()), Catch::Contains("another plan"));
        REQUIRE_THAT(read_file(place / "plan.yaml"), Catch::EndsWith("# mine\n"));
    }
}

TEST_CASE("a damaged run is named to its neighbours, and not among what it passed over itself")
{
    const TemporaryFolder root;
    const std::string compute = "run:\n  - {bench: flops, threads: 1, isa: avx2}\n";
    const std::array<std::pair<const char*, std::string>, 3> plans{
        {{"a", compute + "  - {bench: bandwidth, operation: load}\n"}, {"b", compute}, {"c", plan_text}}};
    for (const auto& [name, plan] : plans) {
        RunDirectory run(root / "m" / name, plan, fake_machine());
        for (const Measurement& row : measured(plan)) run.append(row);
    }
    PassedOver of_whole;
    CHECK(find_calibration(root / "m" / "c", {}, &of_whole).filename() == "a");
    CHECK((of_whole.damage.empty() && of_whole.remarks.empty()));  // b has rows, though no bandwidth
    const std::filesystem::path rows = root / "m" / "b" / "measurements.csv";
    std::string text = read_file(rows);
    text.insert(text.find("\nflops") + 1, "x");
    write_file(rows, text);
    PassedOver of_c;
    CHECK(find_calibration(root / "m" / "c", {}, &of_c).filename() == "a");
    REQUIRE(of_c.damage.size() == 1);
    CHECK_THAT(of_c.damage.front(), Catch::Contains("'b' was passed over"));
    PassedOver of_b;
    CHECK(find_calibration(root / "m" / "b", {}, &of_b).filename() == "a");
    CHECK(of_b.damage.empty());
}

TEST_CASE("a document larger than any that roof writes is not read, and its neighbours keep nothing of it")
{
    const TemporaryFolder folder;
    for (const char* const name : {"plan.yaml", "machine.yaml", "checksums.csv"}) {
        const std::filesystem::path place = folder / name / "run";
        {
            RunDirectory run(place, plan_text, fake_machine());
            for (const Measurement& row : measured()) run.append(row);
        }
        CHECK(neighbours_in(folder / name).at(0).plan == plan_text);
        std::filesystem::resize_file(place / name, (std::size_t{16} << 20) + 1);
        CHECK(neighbours_in(folder / name).at(0).plan.size() <= plan_text.size());
        CHECK_THROWS_WITH(read_results(place), Catch::Contains(std::string(name) + ": it is larger than 16 MiB"));
    }
}

TEST_CASE("a folder of which the digest alone is left is one of results, and one with a table of others is not")
{
    const TemporaryFolder folder;
    make_folder(folder / "lost" / "run");
    make_folder(folder / "others" / "run");
    write_file(folder / "lost" / "run" / "digest.csv", "what,name\n");
    write_file(folder / "others" / "run" / "table.csv", "id,name\n");
    CHECK(neighbours_in(folder / "lost").at(0).is_results);
    CHECK_FALSE(neighbours_in(folder / "others").at(0).is_results);
}
