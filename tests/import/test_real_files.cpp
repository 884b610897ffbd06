// Files written by the tools themselves (see data/README.md), against values read by hand.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;
using tests::fixture;
using tests::imported_text;

namespace {

bool has(const std::vector<std::string>& sentences, const std::string& part)
{
    return std::ranges::any_of(sentences, [&](const std::string& s) { return s.find(part) != s.npos; });
}

}  // namespace

TEST_CASE("a real file of the Empirical Roofline Tool: two levels, two precisions, and the device of its configuration")
{
    const Imported file = import_file(fixture("ert_1.1.0.json"));
    REQUIRE(file.rows.size() == 4);
    CHECK(file.rows[0].measurement.point.text("path") == "L1");
    CHECK(file.rows[0].measurement.work.compulsory.value == Approx(936.46e9));
    CHECK(file.rows[1].measurement.point.text("path") == "DRAM");
    CHECK(file.rows[2].measurement.point.text("precision") == "fp32");
    CHECK(file.rows[2].measurement.work.flops.value == Approx(202.08e9));
    CHECK(file.rows[3].measurement.point.text("precision") == "fp64");
    CHECK(file.rows[3].measurement.device == "cpu");
    CHECK(file.missing.empty());
    std::string text = tests::fixture_text("ert_1.1.0.json");
    for (std::size_t at = 0; (at = text.find("'ERT_GPU': ['False']")) != text.npos;)
        text.replace(at, 20, "'ERT_GPU': ['True']");
    const Imported on_gpu = imported_text(text);
    CHECK(on_gpu.rows[3].measurement.device == "gpu:0");
    CHECK(on_gpu.devices.at(0).kind == "gpu");
}

TEST_CASE("the rates of the Empirical Roofline Tool are roofs over its machine")
{
    const fakes::TemporaryFolder folder;
    write_import(folder / "ert", {import_file(fixture("ert_1.1.0.json"))}, "server");
    const Results results = read_results(folder / "ert");
    const Ceilings ceilings = fit_ceilings(results.rows, results.machine);
    REQUIRE(ceilings.bandwidth("cpu", "DRAM", 1) != nullptr);
    CHECK(ceilings.bandwidth("cpu", "L1", 1)->rate.median.value == Approx(936.46e9));
    CHECK(ceilings.bandwidth("cpu", "DRAM", 1)->rate.median.value == Approx(675.88e9));
    CHECK(ceilings.roof(Role::compute, "cpu", "fp64", 1)->rate.median.value == Approx(124.49e9));
    CHECK(find_calibration(folder / "ert") == folder / "ert");
}

TEST_CASE("a real file of perf: time in seconds, and missing events are named")
{
    const Imported file = import_file(fixture("perf_6.1.json"));
    REQUIRE(file.rows.size() == 1);
    CHECK(file.rows[0].measurement.seconds.median.value == Approx(0.128155383));
    const auto& counters = file.rows[0].counters;
    const auto clock = std::ranges::find(counters, "task-clock", &CounterRecord::metric);
    REQUIRE(clock != counters.end());
    CHECK(clock->value == Approx(0.971399e-3));
    CHECK(clock->unit == "s");
    CHECK(std::ranges::any_of(file.missing, [](const std::string& sentence) {
        return sentence.find("instructions (<not supported>)") != sentence.npos;
    }));
}

TEST_CASE("a real PyTorch file without a GPU has layers, and one with a kernel has their names, steps and phases")
{
    const Imported on_cpu = import_file(fixture("kineto_cpu_2.13.json"));
    const Measurement& step = on_cpu.rows.at(0).measurement;
    CHECK(step.device == "cpu");
    CHECK(step.seconds.median.value == Approx(792.972e-6));
    CHECK(step.work.flops.value == 2 * 2 * 4 * 3);
    REQUIRE(step.parts.size() == 1);
    CHECK(step.parts[0].part.layer == "linear 0");
    CHECK(step.parts[0].seconds.median.value == Approx(160.59e-6));
    std::string text = tests::fixture_text("kineto_cpu_2.13.json");
    const std::string list = "\"traceEvents\": [";
    text.insert(text.find(list) + list.size(),
                R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100,
                    "ts": 4445779348400.000, "dur": 5.000, "args": {"correlation": 9}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                    "ts": 4445779348410.500, "dur": 20.250, "args": {"device": 0, "stream": 7, "correlation": 9}},)");
    const Imported file = imported_text(text);
    const ImportedRow& row = file.rows.at(0);
    REQUIRE(row.kernels.size() == 1);
    CHECK(row.kernels[0].cause.phase == "forward");
    CHECK(row.kernels[0].cause.layer == "linear 0");
    CHECK(row.kernels[0].duration.value == Approx(20.25e-6));
    REQUIRE(row.ranges.size() == 5);
    const auto forward = std::ranges::find(row.ranges, "forward", &RangeRecord::name);
    REQUIRE(forward != row.ranges.end());
    CHECK(row.kernels[0].start->value - forward->start->value == Approx(76.359e-6).margin(1e-9));
    CHECK(row.measurement.seconds.median.value == Approx(792.972e-6));
}

TEST_CASE("PyTorch: a recording of two GPUs is a row for each, with its kernels and the calls that started them")
{
    const std::string list = "\"traceEvents\": [";
    const auto event = [](std::string_view category, std::string_view name, int device, int correlation) {
        return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": 7, "ts": 1690000000000050.000,
            "dur": 2.000, "args": {{"device": {}, "stream": 7, "correlation": {}}}}},)",
                           category, name, device, correlation);
    };
    std::string text = tests::fixture_text("kineto.json");
    text.insert(text.find(list) + list.size(),
                event("kernel", "other", 1, 900) + event("cuda_runtime", "cudaLaunchKernel", 1, 900));
    const Imported file = imported_text(text);
    REQUIRE(file.rows.size() == 2);
    const Imported alone = import_file(fixture("kineto.json"));
    CHECK(file.rows[0].measurement.device == "gpu:0");
    CHECK(file.rows[0].kernels.size() == alone.rows.at(0).kernels.size());
    CHECK(file.rows[0].calls.size() == alone.rows.at(0).calls.size());
    CHECK(file.rows[1].measurement.device == "gpu:1");
    REQUIRE(file.rows[1].kernels.size() == 1);
    CHECK(file.rows[1].kernels[0].name == "other");
    CHECK(std::ranges::count(file.rows[1].calls, Number{900}, &ApiRecord::correlation) == 1);
    CHECK(file.rows[0].measurement.id() != file.rows[1].measurement.id());
}

TEST_CASE("PyTorch: counters of CUPTI give the FLOPs of a recording, and are kept by kernel")
{
    const auto range = [](std::string_view name, long long fma, long long add) {
        return fmt::format(
            R"({{"ph": "X", "cat": "cuda_profiler_range", "name": "{}", "pid": 0, "tid": 0, "ts": 1679055454166485,
            "dur": 121431, "args": {{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": {},
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": {}, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 0}}}})",
            name, add, fma);
    };
    const Imported file = imported_text(
        fmt::format(R"({{"traceEvents": [{}, {}]}})", range("gemm", 9'119'334'400, 24'780'800), range("add", 0, 100)));
    REQUIRE(file.rows.size() == 1);
    const Measurement& row = file.rows[0].measurement;
    CHECK(row.device == "gpu:0");
    CHECK(row.work.flops.value == 2 * 9'119'334'400.0 + 24'780'800 + 100);
    CHECK(row.work.known == Known::counter);
    CHECK(row.point.text("precision") == "fp32");
    CHECK(file.rows[0].counters.size() == 6);
    CHECK(has(file.missing, "FLOPs of tensor cores"));
    CHECK(has(file.missing, "bytes: CUPTI counted none"));
}

TEST_CASE("PyTorch: a kernel of Inductor has the FLOPs and bytes that Inductor says")
{
    const Imported file = imported_text(
        R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "triton_tem_fused_mm_0", "pid": 1, "tid": 1, "ts": 1690000000000041.000,
            "dur": 5.000, "args": {"kernel_flop": 4096, "kernel_num_gb": 3.2e-05, "Input Dims": [[8], [8]]}}]})");
    const Measurement& row = file.rows.at(0).measurement;
    CHECK(row.work.flops.value == 4096);
    REQUIRE(row.parts.size() == 1);
    CHECK(row.parts[0].part.work.compulsory.value == Approx(32000));
}
