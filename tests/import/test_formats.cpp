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
using tests::imported_text;

namespace {

/// Imports the fixture under a neutral name, so that content alone decides the format.
Imported imported(const std::string& name)
{
    const fakes::TemporaryFolder folder;
    std::filesystem::copy(fixture(name), folder / "x");
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

TEST_CASE("Nsight Systems: kinds of memory follow the export's own table, or CUPTI where it has none")
{
    const std::string sql = tests::fixture_text("nsys.sql");
    const auto copies = [&](const std::string& statements) {
        const fakes::TemporaryFolder folder;
        tests::make_database(folder / "x", sql + statements);
        return import_file(folder / "x").rows.at(0).copies;
    };
    const auto managed = copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 0, dstKind = 4;");
    CHECK(managed.at(0).source == MemoryKind::pageable);
    CHECK(managed.at(0).destination == MemoryKind::managed);
    const auto old =
        copies("DROP TABLE ENUM_CUDA_MEM_KIND; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 2, dstKind = 3;");
    CHECK(old.at(0).source == MemoryKind::pinned);
    CHECK(old.at(0).destination == MemoryKind::device);
    CHECK(copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 11;").at(0).kind == CopyKind::host_to_device);
    CHECK(copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 12;").at(0).kind == CopyKind::device_to_host);
    CHECK(copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 13;").at(0).kind == CopyKind::device_to_device);
    CHECK(copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 0;").at(0).kind == CopyKind::host_to_device);
    CHECK(copies("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 0, srcKind = 2, dstKind = 1;").at(0).kind ==
          CopyKind::device_to_host);
}

TEST_CASE("Nsight Systems: calls of several processes with one number do not get each other's phase")
{
    const fakes::TemporaryFolder folder;
    tests::make_database(folder / "x", tests::fixture_text("nsys.sql") +
                                           "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN globalPid INT;"
                                           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 5 << 24;"
                                           "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = (5 << 24) + 1;"
                                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1700000000000002500, "
                                           "1700000000000012000, 0, 1, 7, 102, 1, 1, "
                                           "1, 1, 1, 1, 1, 1, 1, 0, 0, NULL, 6 << 24);"
                                           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1700000000000001000, "
                                           "1700000000000001500, 0, (6 << 24) + 1, "
                                           "102, 3, 0);");
    const auto kernels = import_file(folder / "x").rows.at(0).kernels;
    REQUIRE(kernels.size() == 3);
    CHECK(kernels[1].cause.phase == "update");   // 102 of the one process
    CHECK(kernels[2].cause.phase == "forward");  // 102 of the other
}

TEST_CASE("Nsight Systems: the number that emit_nvtx gives each call is no part of a range's name")
{
    const fakes::TemporaryFolder folder;
    tests::make_database(folder / "x", tests::fixture_text("nsys.sql") +
                                           "INSERT INTO NVTX_EVENTS VALUES (1700000000000001000, 1700000000000002000, "
                                           "59, 'aten::mul, op_id = 314339', NULL, 5), (1700000000000001000, "
                                           "1700000000000002000, 59, 'aten::add, seq = 7, sizes = [[2]]', NULL, 5);");
    const auto ranges = import_file(folder / "x").rows.at(0).ranges;
    REQUIRE(ranges.size() == 5);
    CHECK(std::ranges::find(ranges, "aten::mul", &RangeRecord::name) != ranges.end());
    CHECK(std::ranges::find(ranges, "aten::add", &RangeRecord::name) != ranges.end());
}

TEST_CASE("Nsight Compute: lines of metrics are shorter than the header where the file has rules")
{
    const Imported file = imported("ncu_rules.csv");
    CHECK(file.format == "Nsight Compute, details page");
    const ImportedRow& row = file.rows.at(0);
    REQUIRE(row.kernels.size() == 1);
    CHECK(row.kernels[0].duration.value == Approx(406240e-9));
    CHECK(names(file.missing, "bytes: there is no metric at any level"));
    CHECK_FALSE(names(file.missing, "some launches"));  // there is one, and it has none
    const auto processors = std::ranges::find(row.counters, "# SMs", &CounterRecord::metric);
    REQUIRE(processors != row.counters.end());
    CHECK(processors->unit == "SM");
    CHECK_THROWS_WITH(
        imported_text(replaced(tests::fixture_text("ncu_rules.csv"), "\"ns\",\"406240\",", "\"406240\",")),
        Catch::Contains("15 cells, not 20"));
}

TEST_CASE("Nsight Compute: one decimal comma shows the style of all numbers")
{
    const std::string text = replaced(tests::fixture_text("ncu_rules.csv"), "\"21.68\"", "\"21,68\"");
    const std::string german =
        replaced(replaced(text, "\"406240\"", "\"406.240\""), "\"3995313115.40\"", "\"3.995.313.115,40\"");
    CHECK(imported_text(german).rows.at(0).kernels.at(0).duration.value == Approx(406240e-9));
    CHECK_THROWS_WITH(imported_text(text), Catch::Contains("LC_ALL=C"));
}

TEST_CASE("Nsight Compute: sums follow from rates over time and over cycles")
{
    const std::string text =
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"CC\","
        "\"dram__bytes.sum.per_second\",\"gpu__time_duration.sum\",\"smsp__cycles_elapsed.avg.per_second\","
        "\"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed\","
        "\"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed\","
        "\"derived__smsp__sass_thread_inst_executed_op_dfma_pred_on_x2\","
        "\"derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Gbyte/second\",\"msecond\",\"cycle/nsecond\",\"inst/"
        "cycle\",\"inst/cycle\","
        "\"inst/cycle\",\"inst\"\n"
        "\"0\",\"1\",\"app\",\"h\",\"triad\",\"1\",\"7\",\"0\",\"9.0\",\"2000\",\"2\",\"1.5\",\"10\",\"0\",\"40\","
        "\"99999\"\n";
    const Measurement row = imported_text(text).rows.at(0).measurement;
    CHECK(row.work.compulsory.value == Approx(2000e9 * 2e-3));
    // 3e6 cycles; 10 additions and 20 multiply-adds in each.
    CHECK(row.work.flops.value == Approx(3e6 * (10 + 2 * 20)));
}

TEST_CASE("Nsight Compute: a log without a table is refused with the error in it")
{
    CHECK_THROWS_WITH(imported_text("==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not "
                                    "have permission\n"),
                      Catch::Contains("ERR_NVGPUCTRPERM"));
    const Imported file = imported_text("==ERROR== one kernel failed\n" + tests::fixture_text("ncu_rules.csv"));
    CHECK(names(file.remarks, "one kernel failed"));
}

TEST_CASE("PyTorch's profile: a step that was cut off before its first call is no step")
{
    const std::string text = tests::fixture_text("kineto.json");
    const std::string list = "\"traceEvents\": [";
    const Imported file = imported_text(replaced(
        text, list, list + R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#9", "pid": 1, "tid": 1,
                   "ts": 1790000000000000.000, "dur": 0.049},)"));
    CHECK(file.rows.at(0).measurement.seconds.n == 1);
    CHECK(file.rows.at(0).measurement.seconds.median.value == Approx(50e-6));
    // The breakdown of the time is of the steps in this list.
    CHECK(std::ranges::count(file.rows.at(0).ranges, RangeKind::step, &RangeRecord::kind) == 1);
}

TEST_CASE("PyTorch's profile: a step that was cut off after its first call is no step")
{
    const auto call = [](const std::string& at) {
        return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" + at +
               R"(, "dur": 1.000, "args": {"correlation": 90}},)";
    };
    const std::string list = "\"traceEvents\": [";
    const std::string cut = R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1,
                   "ts": 1690000000000100.000, "dur": 0.900},)";
    const auto steps = [&](const std::string& calls) {
        const std::string text = tests::fixture_text("kineto.json");
        return imported_text(replaced(text, list, list + cut + calls)).rows.at(0).measurement.seconds.n;
    };
    const std::string two = call("1690000000000041.000") + call("1690000000000043.000");
    CHECK(steps(two + call("1690000000000100.100")) == 1);
    CHECK(steps(two + call("1690000000000100.100") + call("1690000000000100.200")) == 2);
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
        CHECK_THROWS_WITH(imported_text(text), (Catch::Contains("Nsight Compute") && Catch::Contains("LIKWID")) ||
                                                   Catch::Contains("likwid"));
    CHECK_THROWS_WITH(imported_text("\x1F\x8B zipped"), Catch::Contains("damaged or cut off"));
    CHECK_THROWS_AS(import_file("/nowhere/at/all"), InputError);
}
