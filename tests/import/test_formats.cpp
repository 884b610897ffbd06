// Each format against a file as its tool writes it, with exact values.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using tests::fixture;

namespace {

/// Imports the fixture under a neutral name, so that content alone decides the format.
Imported imported(const std::string& name)
{
    const fakes::TemporaryFolder folder;
    std::filesystem::copy(fixture(name), folder / "x");
    return import_file(folder / "x");
}

Imported imported_text(const std::string& text)
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "x", text);
    return import_file(folder / "x");
}

std::string replaced(std::string text, const std::string& part, const std::string& by)
{
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), by);
}

bool names(const std::vector<std::string>& sentences, const std::string& part)
{
    return std::ranges::any_of(sentences, [&](const std::string& s) { return s.find(part) != s.npos; });
}

}  // namespace

TEST_CASE("Nsight Compute, details: work and time are the sums over launches, in base units")
{
    const Imported file = imported("ncu_details.csv");
    CHECK(file.format == "Nsight Compute, details page");
    REQUIRE(file.rows.size() == 1);
    const Measurement& row = file.rows[0].measurement;
    CHECK(row.device == "gpu:0");
    CHECK(row.point.text("precision") == "fp32");
    CHECK(row.seconds.median.value == Approx(127.34e-6));
    CHECK(row.work.flops.value == Approx(1500 + 2 * 1073741824.0 + 8e6));
    CHECK(row.work.compulsory.value == Approx(27.59e6 + 410e3 + 16e6));
    CHECK(row.work.known == Known::counter);
    REQUIRE(file.rows[0].kernels.size() == 2);
    CHECK(file.rows[0].kernels[0].name == "ampere_sgemm_128x64_nn");
    CHECK(file.rows[0].kernels[0].block == "128x1x1");
    CHECK(file.rows[0].kernels[0].grid == "64x2x1");
    CHECK(file.rows[0].kernels[0].duration.value == Approx(117.34e-6));
    CHECK(names(file.remarks, "1 values were not numbers"));
}

TEST_CASE("Nsight Compute, raw: a row for each device, with the tensor cores' FLOPs")
{
    const Imported file = imported("ncu_raw.csv");
    CHECK(file.format == "Nsight Compute, raw page");
    REQUIRE(file.rows.size() == 2);
    const Measurement& row = file.rows[0].measurement;
    CHECK(row.point.text("precision") == "bf16");
    CHECK(row.seconds.median.value == Approx(82e-6));
    CHECK(row.work.flops == Flops{2 * 2147483648.0});
    CHECK(row.work.compulsory == Bytes{2 * 10242048.0});
    CHECK(file.rows[1].measurement.device == "gpu:1");
    const auto& counters = file.rows[0].counters;
    const auto clock = std::ranges::find(counters, "sm__cycles_elapsed.avg.per_second", &CounterRecord::metric);
    REQUIRE(clock != counters.end());
    CHECK(clock->unit == "Hz");
    CHECK(clock->value == Approx(1500000000.5));
}

TEST_CASE("Nsight Compute, old metrics: sectors are 32 bytes, tensor instructions are not FLOPs")
{
    const Imported file = imported("ncu_sectors.csv");
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(row.work.flops == Flops{8e6});
    CHECK(row.work.compulsory == Bytes{96e6});
    CHECK(row.seconds.median.value == Approx(1e-4));
    CHECK(names(file.missing, "counts instructions"));
}

TEST_CASE("Nsight Compute: decimal commas are read, mixed styles are refused, and missing metrics are named")
{
    const std::string text = tests::fixture_text("ncu_raw.csv");
    const std::string other = replaced(text, "\"10,240,000\"", "\"10.240.000\"");
    CHECK_THROWS_WITH(imported_text(other), Catch::Contains("LC_ALL=C"));
    const std::string sectors = tests::fixture_text("ncu_sectors.csv");
    const Imported german = imported_text(replaced(sectors, "\"2000000\"", "\"2.000.000\""));
    CHECK(german.rows[0].measurement.work.compulsory == Bytes{96e6});
    CHECK_THROWS_WITH(imported_text(replaced(sectors, "\"2000000\"", "\"2000.5\"")),
                      Catch::Contains("not a whole number"));
    const Imported untimed = imported_text(replaced(sectors, "gpu__time_duration.sum", "gpu__time_active.sum"));
    CHECK(names(untimed.missing, "time:"));
    CHECK(untimed.rows[0].kernels.empty());
    const Imported half = imported_text(replaced(sectors, "dram__sectors_write.sum", "dram__sectors_other.sum"));
    CHECK(names(half.missing, "only one direction"));
    CHECK(half.rows[0].measurement.work.compulsory == Bytes{0});
}

TEST_CASE("Nsight Systems: kernels, calls, copies, waits and ranges, in seconds from the first")
{
    const fakes::TemporaryFolder folder;
    tests::make_database(folder / "x", tests::fixture_text("nsys.sql"));
    const Imported file = import_file(folder / "x");
    CHECK(file.format == "Nsight Systems, SQLite export");
    CHECK(file.devices.at(0).model == "NVIDIA A100-SXM4-40GB");
    const ImportedRow& row = file.rows.at(0);
    REQUIRE(row.kernels.size() == 2);
    CHECK(row.kernels[0].name == "ampere_sgemm_128x64_nn");
    CHECK(row.kernels[0].start->value == Approx(2e-6));
    CHECK(row.kernels[0].duration.value == Approx(10e-6));
    CHECK(row.kernels[0].grid == "64x2x1");
    CHECK(row.kernels[0].shared == Bytes{49152});
    CHECK(row.kernels[0].cause.phase == "forward");
    CHECK(row.kernels[1].cause.phase == "update");
    CHECK(row.kernels[1].graph_node == 3);
    REQUIRE(row.calls.size() == 3);
    CHECK(row.calls[0].domain == ApiDomain::runtime);
    CHECK(row.calls[1].domain == ApiDomain::driver);
    REQUIRE(row.copies.size() == 2);
    CHECK(row.copies[0].kind == CopyKind::host_to_device);
    CHECK(row.copies[0].source == MemoryKind::pinned);
    CHECK(row.copies[0].bytes == Bytes{200000});
    CHECK(row.copies[1].kind == CopyKind::fill);
    CHECK(row.waits.at(0).kind == "stream");
    CHECK(row.ranges.size() == 3);
    REQUIRE(row.memory.size() == 2);
    CHECK(row.memory[0].action == MemoryAction::allocate);
    CHECK(row.memory[0].memory == MemoryKind::device);
    CHECK(row.memory[0].start->value == Approx(0.5e-6));
    CHECK(row.memory[1].action == MemoryAction::release);
    CHECK(row.measurement.seconds.median.value == Approx(30e-6));
    CHECK(names(file.missing, "FLOPs and bytes"));
}

TEST_CASE("Nsight Systems: errors in a table are named, and an export without CUDA is refused")
{
    const std::string sql = tests::fixture_text("nsys.sql");
    const auto fails = [](const std::string& statements, const std::string& message) {
        const fakes::TemporaryFolder folder;
        tests::make_database(folder / "x", statements);
        CHECK_THROWS_WITH(import_file(folder / "x"), Catch::Contains(message));
    };
    fails(sql + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1;", "table CUPTI_ACTIVITY_KIND_KERNEL: a record from");
    fails(sql + "DELETE FROM StringIds WHERE id = 2;", "StringIds has no string 2");
    fails(sql + "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 99;", "copyKind 99");
    fails(sql + "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN nameId;", "has no column 'nameId'");
    fails("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);", "no CUDA calls");
}

TEST_CASE("PyTorch's profile: times since 1970 keep their digits")
{
    const Imported file = imported("kineto.json");
    CHECK(file.format == "PyTorch profiler");
    CHECK(file.devices.at(0).model == "NVIDIA A100-SXM4-40GB");
    const ImportedRow& row = file.rows.at(0);
    REQUIRE(row.kernels.size() == 1);
    CHECK(row.kernels[0].start->value == Approx(10.125e-6).epsilon(1e-9));
    CHECK(row.kernels[0].duration.value == Approx(20.5e-6));
    CHECK(row.kernels[0].grid == "64x2x1");
    CHECK(row.kernels[0].block == "128x1x1");
    CHECK(row.kernels[0].registers == 122);
    CHECK(row.kernels[0].cause.correlation == 11);
    REQUIRE(row.copies.size() == 2);
    CHECK(row.copies[0].kind == CopyKind::host_to_device);
    CHECK(row.copies[0].source == MemoryKind::pinned);
    CHECK(row.copies[0].destination == MemoryKind::device);
    CHECK(row.copies[0].bytes == Bytes{16384});
    CHECK(row.calls.size() == 1);
    REQUIRE(row.memory.size() == 2);
    CHECK(row.memory[0].bytes == Bytes{4096});
    CHECK(row.memory[1].action == MemoryAction::release);
    CHECK(row.memory[1].start->value == Approx(40e-6));
    CHECK(row.ranges.at(0).kind == RangeKind::step);
    CHECK(row.measurement.seconds.median.value == Approx(50e-6));
}

TEST_CASE("PyTorch's profile: a truncated file is an error with its byte, an invalid time with its event")
{
    const std::string text = tests::fixture_text("kineto.json");
    CHECK_THROWS_WITH(imported_text(text.substr(0, text.size() / 2)), Catch::Contains(": byte "));
    CHECK_THROWS_WITH(imported_text(replaced(text, "\"dur\": 20.500", "\"dur\": \"long\"")),
                      Catch::Contains("event 4, 'ampere_sgemm_128x64_nn': its duration 'long' is not a time"));
    CHECK_THROWS_WITH(imported_text(replaced(text, "\"dur\": 20.500, ", "")), Catch::Contains("event 4"));
    CHECK_THROWS_WITH(imported_text("{\"traceEvents\": []}"), Catch::Contains("none of its 0 events"));
}

TEST_CASE("perf stat: FLOPs by width, bytes of all sockets by unit, and uncounted events")
{
    const Imported file = imported("perf.json");
    CHECK(file.format == "perf stat");
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(row.device == "cpu");
    CHECK(row.seconds.median == Seconds{2});
    CHECK(row.work.flops == Flops{1000 + 8e9 + 8e9});
    CHECK(row.work.compulsory == Bytes{1536.0 * 1048576});
    CHECK(row.point.text("precision") == "fp32");
    CHECK(names(file.missing, "l2_rqsts.miss (<not supported>)"));
    CHECK(names(file.remarks, "estimates"));
    const std::string text = tests::fixture_text("perf.json");
    CHECK_THROWS_WITH(imported_text(replaced(text, "\"MiB\"", "\"furlong\"")),
                      Catch::Contains("x:8:") && Catch::Contains("furlong"));
    CHECK_THROWS_WITH(imported_text(text.substr(0, text.size() - 3)), Catch::Contains("x:12: the line is cut off"));
    CHECK(names(imported_text(replaced(text, "duration_time", "some_time")).missing, "time:"));
}

TEST_CASE("LIKWID: rates over each thread's own time, summed volumes, a row for each region")
{
    const Imported file = imported("likwid.csv");
    CHECK(file.format == "likwid-perfctr");
    REQUIRE(file.rows.size() == 1);
    const Measurement& row = file.rows[0].measurement;
    CHECK(row.point.text("model") == "x conv");
    CHECK(row.seconds.median == Seconds{2});
    CHECK(row.work.flops.value == Approx(2e9 + 3e9));
    CHECK(row.work.compulsory == Bytes{12.5e9});
    const std::string text = tests::fixture_text("likwid.csv");
    CHECK_THROWS_WITH(imported_text(replaced(text, "SP [MFLOP/s],1000", "SP [MFLOP/s],many")),
                      Catch::Contains("x:16:"));
    CHECK_THROWS_WITH(imported_text(text.substr(0, text.find("Operational"))),
                      Catch::Contains("x:17: the table is cut off"));
    CHECK(names(imported_text(replaced(text, "SP [MFLOP/s]", "SP [furlong]")).missing, "FLOPs:"));
}

TEST_CASE("rates of the Empirical Roofline Tool are ceilings by name")
{
    const Imported file = imported("ert_roofline.json");
    REQUIRE(file.rows.size() == 4);
    CHECK(file.rows[0].measurement.role == Role::bandwidth);
    CHECK(file.rows[0].measurement.work.compulsory == Bytes{912.5e9});
    CHECK(file.rows[2].measurement.flop_rate() == FlopRate{331.5e9});
    CHECK(file.rows[2].measurement.point.text("precision") == "fp64");
    CHECK(names(file.missing, "precision of 'GFLOPs'"));
    const std::string text = tests::fixture_text("ert_roofline.json");
    CHECK_THROWS_WITH(imported_text(text.substr(0, 150)), Catch::Contains(": byte "));
    CHECK_THROWS_WITH(imported_text(replaced(text, "912.5", "\"fast\"")), Catch::Contains("gbytes"));
}

TEST_CASE("a file of unknown format is refused with the known formats")
{
    for (const std::string text : {"", "hello\n", "a,b\n1,2\n", "{}", "[1, 2]"})
        CHECK_THROWS_WITH(imported_text(text),
                          Catch::Contains("Nsight Compute") && Catch::Contains("LIKWID") || Catch::Contains("likwid"));
    CHECK_THROWS_WITH(imported_text("\x1F\x8B zipped"), Catch::Contains("gunzip"));
    CHECK_THROWS_AS(import_file("/nowhere/at/all"), InputError);
}
