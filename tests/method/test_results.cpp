#include "ert/base/error.hpp"
#include "ert/base/fields.hpp"
#include "ert/base/files.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

using namespace roof;
using namespace roof::fakes;
using namespace roof::tests;

namespace {

void append_text(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream(file, std::ios::app) << text;
}

}  // namespace

TEST_CASE("rows are unchanged after writing and reading, with their samples and parts")
{
    const TemporaryFolder folder;
    auto rows = measured();
    rows[0].parts[1].part.work.refetched = {{{65536}, {2.5e7}}, {{262144}, {3e6}}};
    {
        RunDirectory run(folder / "run", plan_text, fake_machine());
        for (const Measurement& row : rows) run.append(row);
    }
    const Results back = read_results(folder / "run");
    REQUIRE(back.plan == plan_text);
    REQUIRE(back.machine.name == "fake-2cpu");
    REQUIRE(back.rows.size() == 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        REQUIRE(back.rows[i].id() == rows[i].id());
        REQUIRE(back.rows[i].status == rows[i].status);
        REQUIRE(back.rows[i].reason == rows[i].reason);
        REQUIRE(back.rows[i].seconds.median == rows[i].seconds.median);
        REQUIRE(back.rows[i].seconds.n == rows[i].seconds.n);
        REQUIRE(back.rows[i].losses() == rows[i].losses());
        REQUIRE(back.rows[i].images_per_second().median == rows[i].images_per_second().median);
        REQUIRE(back.rows[i].parts.size() == rows[i].parts.size());
        REQUIRE(back.rows[i].memory == rows[i].memory);
        REQUIRE(back.rows[i].started == rows[i].started);
    }
    REQUIRE(back.rows[0].parts[1].part.implementation == "fake:gemm");
    REQUIRE(back.rows[0].parts[1].part.phase == Phase::backward);
    const Work& work = back.rows[0].parts[1].part.work;
    REQUIRE(work.no_reuse == rows[0].parts[1].part.work.no_reuse);
    REQUIRE(work.refetched_beyond({65535}) == Bytes{28e6});
    REQUIRE(work.refetched_beyond({65536}) == Bytes{3e6});
    REQUIRE(work.refetched_beyond({262144}) == Bytes{});
    REQUIRE(back.rows[0].parts[0].part.work.refetched.empty());
    const auto refetched = std::ranges::find(part_fields(), "refetched_bytes", &Field<PartMeasurement>::name);
    for (const char* wrong : {"5", "1:2:3", "1: 2", "-1:2", "1:inf", "a:2"}) {
        PartMeasurement part;
        REQUIRE_THROWS_AS(refetched->read(part, wrong), Error);
    }
}

TEST_CASE("a folder has its own name however it is written")
{
    const TemporaryFolder folder;
    {
        RunDirectory run(folder / "some-run", plan_text, fake_machine());
        for (const Measurement& row : measured()) run.append(row);
    }
    CHECK(read_results(folder / "some-run").folder.filename() == "some-run");
    CHECK(read_results(folder / "some-run" / "").folder.filename() == "some-run");
    CHECK(read_results(folder / "some-run" / ".").folder.filename() == "some-run");
    CHECK(read_results(folder / "some-run" / ".." / "some-run").folder.filename() == "some-run");
}

TEST_CASE("a folder of an older format is an error with a clear message")
{
    const TemporaryFolder folder;
    {
        RunDirectory run(folder / "run", plan_text, fake_machine());
        for (const Measurement& row : measured()) run.append(row);
    }
    const std::filesystem::path file = folder / "run" / "machine.yaml";
    const std::string text = read_file(file);
    REQUIRE_THAT(text, Catch::StartsWith("format: 3\n"));
    for (const std::string& older :
         {"format: 1\n" + text.substr(text.find('\n') + 1), "format: 4\n" + text.substr(text.find('\n') + 1)}) {
        write_file(file, older);
        CHECK_THROWS_WITH(read_results(folder / "run"),
                          Catch::Contains("older format") && Catch::Contains("measure again"));
        CHECK_THROWS_WITH(RunDirectory(folder / "run", plan_text, fake_machine()), Catch::Contains("older format"));
        CHECK_THROWS_WITH(find_calibration(folder / "run"), Catch::Contains("older format"));
    }
    for (const std::string& damaged : {std::string(), "X" + text, text.substr(text.find('\n') + 1)}) {
        write_file(file, damaged);
        CHECK_THROWS_WITH(read_results(folder / "run"), Catch::Contains("machine.yaml: it is damaged") &&
                                                            Catch::Contains("put back this file") &&
                                                            !Catch::Contains("measure again"));
    }
    write_file(file, "format: 2\n" + text.substr(text.find('\n') + 1));
    CHECK(read_machine_of(folder / "run").name == fake_machine().name);
    CHECK_THROWS_WITH(RunDirectory(folder / "run", plan_text, fake_machine()), Catch::Contains("nothing is appended"));
}

TEST_CASE("after a kill at any moment the complete rows are kept and the rest is moved beside")
{
    const auto rows = measured();
    const TemporaryFolder folder;
    {
        RunDirectory run(folder / "whole", plan_text, fake_machine());
        run.append(rows[0]);
        run.append(rows[1]);
    }
    const std::string samples = read_file(folder / "whole" / "samples.csv");
    const std::string layers = read_file(folder / "whole" / "layers.csv");
    const std::string measurements = read_file(folder / "whole" / "measurements.csv");
    const std::size_t first_row_end = measurements.find('\n', measurements.find('\n') + 1) + 1;
    const std::size_t cut_samples = samples.size() - samples.find("\n" + rows[1].id()) - 1;
    // The second row's line is cut at every length. Its samples and layers are complete.
    for (std::size_t length = first_row_end; length < measurements.size(); length += 17) {
        const std::filesystem::path torn = folder / ("torn" + std::to_string(length));
        std::filesystem::copy(folder / "whole", torn);
        std::filesystem::remove(torn / "checksums.csv");  // a killed run wrote none
        write_file(torn / "measurements.csv", measurements.substr(0, length));
        REQUIRE(read_results(torn).rows.size() == 1);
        RunDirectory run(torn, plan_text, fake_machine());
        REQUIRE(run.done() == std::set<std::string>{rows[0].id()});
        run.append(rows[1]);
        REQUIRE(read_file(torn / "measurements.csv") == measurements);
        REQUIRE(read_file(torn / "samples.csv") == samples);
        REQUIRE(read_file(torn / "layers.csv") == layers);
        REQUIRE(read_file(torn / "samples.csv.cut") == samples.substr(samples.size() - cut_samples) + "\n");
        if (length > first_row_end)
            REQUIRE(read_file(torn / "measurements.csv.cut") ==
                    measurements.substr(first_row_end, length - first_row_end) + "\n");
    }
    // A line of the samples is cut before the row's own line was begun.
    const std::filesystem::path torn = folder / "torn-samples";
    std::filesystem::copy(folder / "whole", torn);
    std::filesystem::remove(torn / "checksums.csv");
    write_file(torn / "measurements.csv", measurements.substr(0, first_row_end));
    write_file(torn / "samples.csv", samples.substr(0, samples.size() - 5));
    RunDirectory run(torn, plan_text, fake_machine());
    run.append(rows[1]);
    REQUIRE(read_file(torn / "samples.csv") == samples);
}

TEST_CASE("a killed process loses at most the current row")
{
    const TemporaryFolder folder;
    const auto rows = measured();
    const pid_t child = ::fork();
    if (child == 0) {
        RunDirectory run(folder / "run", plan_text, fake_machine());
        run.append(rows[0]);
        append_text(folder / "run" / "samples.csv", rows[1].id() + ",0.1");
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    RunDirectory run(folder / "run", plan_text, fake_machine());
    REQUIRE(run.done().size() == 1);
    run.append(rows[1]);
    REQUIRE(read_results(folder / "run").rows[1].samples.size() == rows[1].samples.size());
}

TEST_CASE("a folder has one plan, one machine and one run at a time")
{
    const TemporaryFolder folder;
    RunDirectory run(folder / "run", plan_text, fake_machine());
    SECTION("a second concurrent run is refused")
    {
        REQUIRE_THROWS_WITH(RunDirectory(folder / "run", plan_text, fake_machine()),
                            Catch::Contains("another run is writing"));
    }
    SECTION("another plan is refused, and the files are unchanged")
    {
        run.append(measured()[0]);
        const std::string before = read_file(folder / "run" / "measurements.csv");
        std::filesystem::copy(folder / "run", folder / "copy");
        REQUIRE_THROWS_WITH(RunDirectory(folder / "copy", "run: other\n", fake_machine()),
                            Catch::Contains("another plan"));
        REQUIRE(read_file(folder / "copy" / "measurements.csv") == before);
    }
    SECTION("another machine is refused")
    {
        run.append(measured()[0]);
        std::filesystem::copy(folder / "run", folder / "copy");
        Machine other = fake_machine();
        other.name = "other";
        REQUIRE_THROWS_WITH(RunDirectory(folder / "copy", plan_text, other), Catch::Contains("another machine"));
    }
    SECTION("columns of another version are refused")
    {
        std::filesystem::copy(folder / "run", folder / "copy");
        write_file(folder / "copy" / "measurements.csv", "id,bench\nx,train\n");
        REQUIRE_THROWS_WITH(RunDirectory(folder / "copy", plan_text, fake_machine()),
                            Catch::Contains("another version"));
    }
}

TEST_CASE("a folder that cannot be created is an input error")
{
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    REQUIRE_THROWS_AS(RunDirectory(folder / "file" / "run", plan_text, fake_machine()), InputError);
    REQUIRE_THROWS_AS(RunDirectory(folder / "file", plan_text, fake_machine()), InputError);
    REQUIRE_THROWS_AS(read_results(folder / "none"), InputError);
}

TEST_CASE("a file that cannot be written is one clear error, and no row is written")
{
    const TemporaryFolder folder;
    RunDirectory run(folder / "run", plan_text, fake_machine());
    std::filesystem::create_symlink("/dev/full", folder / "run" / "samples.csv");
    REQUIRE_THROWS_WITH(run.append(measured()[0]), Catch::Contains("it is a link"));
    REQUIRE_FALSE(std::filesystem::exists(folder / "run" / "measurements.csv"));
}

TEST_CASE("the same command continues an unfinished folder and makes a new one after a finished one")
{
    const TemporaryFolder root;
    const auto rows = measured();
    const Scheduler scheduler(items_of(rows));
    const std::filesystem::path first = choose_folder(root.path(), fake_machine(), plan_text, scheduler);
    REQUIRE(first.parent_path() == root / "fake-2cpu");
    REQUIRE(first.filename().string().ends_with("-test"));
    {
        RunDirectory run(first, plan_text, fake_machine());
        run.append(rows[0]);
    }
    REQUIRE(choose_folder(root.path(), fake_machine(), plan_text, scheduler) == first);
    REQUIRE(choose_folder(root.path(), fake_machine(), plan_text + "# other\n", scheduler) != first);
    {
        RunDirectory run(first, plan_text, fake_machine());
        run.append(rows[1]);
        run.append(rows[2]);
    }
    const std::filesystem::path second = choose_folder(root.path(), fake_machine(), plan_text, scheduler);
    REQUIRE(second != first);
    REQUIRE(std::filesystem::is_empty(second));

    // An unfinished folder that is older than a complete run is not continued.
    const std::filesystem::path given_up = root / "fake-2cpu" / "2000-01-01T000000Z-fake-node-test";
    {
        RunDirectory run(given_up, plan_text, fake_machine());
        run.append(rows[0]);
    }
    REQUIRE(choose_folder(root.path(), fake_machine(), plan_text, scheduler) != given_up);
}

TEST_CASE("probes repeated for what lasts are found beside a run, and are no calibration")
{
    const TemporaryFolder root;
    const std::string probes =
        "run:\n  - {bench: flops, threads: 1, isa: avx2}\n  - {bench: bandwidth, operation: load, working_set: 8192}\n";
    const std::string for_long = "measure: {sustain_seconds: 1}\n";
    const auto make = [&](const std::string& name, const std::string& plan, const std::string& of_rows,
                          const Machine& machine = fake_machine()) {
        RunDirectory run(root / "m" / name, plan, machine);
        for (const Measurement& row : measured(of_rows)) run.append(row);
    };
    make("2026-01-01-a", probes, probes);
    make("2026-01-02-a", plan_text, plan_text);
    make("2026-01-03-a", for_long + probes, for_long + probes);
    make("2026-01-04-a", for_long + plan_text, for_long + plan_text);
    make("2026-01-05-a", for_long + probes, probes);  // stopped before the repetitions
    Machine other = fake_machine();
    other.cpu_model = "Other CPU";
    make("2026-01-06-a", for_long + probes, for_long + probes, other);
    other = fake_machine();
    other.name = "other";
    make("2026-01-07-a", for_long + probes, for_long + probes, other);
    REQUIRE(find_calibration(root / "m" / "2026-01-03-a").filename() == "2026-01-01-a");
    REQUIRE(find_sustained(root / "m" / "2026-01-02-a").filename() == "2026-01-03-a");
    REQUIRE(find_sustained(root / "m" / "2026-01-04-a").filename() == "2026-01-03-a");
    REQUIRE(find_sustained(root / "nowhere").empty());
    const Results results = read_results(root / "m" / "2026-01-03-a");
    REQUIRE(results.damage.empty());
    REQUIRE(results.rows.front().sustained.seconds.median.value == Approx(1e-3));
    REQUIRE(results.rows.front().samples.back().window == "whole");
    REQUIRE(results.rows.front().samples.back().launches > 50);
}

TEST_CASE("every column has its own name, with a unit if it has one")
{
    std::set<std::string> names;
    for (const auto& column : measurement_fields()) REQUIRE(names.insert(std::string(column.name)).second);
    REQUIRE(names.contains("launch_median_s"));
    REQUIRE(names.contains("working_set_bytes"));
}
