// An import becomes a results folder like any other.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("an imported folder is read back with its machine, rows and records")
{
    const fakes::TemporaryFolder folder;
    write_import(folder / "run", {import_file(tests::fixture("ncu_raw.csv")), import_file(tests::fixture("perf.json"))},
                 "server");
    const Results results = read_results(folder / "run");
    CHECK(results.machine.name == "server");
    CHECK(results.machine.device("gpu:1").kind == "gpu");
    CHECK(results.machine.device("cpu").kind == "cpu");
    REQUIRE(results.rows.size() == 3);
    CHECK(results.rows[0].id() == "import gpu:0 model=ncu_raw precision=bf16");
    CHECK(results.rows[0].work.known == Known::counter);
    CHECK_THAT(results.rows[0].remarks, Catch::Contains("imported from Nsight Compute, raw page"));
    std::size_t kernels = 0;
    read_records<KernelRecord>(folder / "run", [&](const std::string& id, const KernelRecord& kernel) {
        kernels += id == results.rows[0].id() && kernel.cause.device == "gpu:0";
    });
    CHECK(kernels == 2);
}

TEST_CASE("a folder holds one import, and rows of different names")
{
    const fakes::TemporaryFolder folder;
    const Imported file = import_file(tests::fixture("perf.json"));
    write_import(folder / "run", {file}, "server");
    CHECK_THROWS_AS(write_import(folder / "run", {file}, "server"), InputError);
    CHECK_THROWS_WITH(write_import(folder / "two", {file, file}, "server"), Catch::Contains("--name"));
}
