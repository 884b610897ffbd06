// Peaks for other programs. The made study has DRAM at 10 GB/s and, with two threads, fp32 at 100 and fp64 at 50
// GFLOP/s; the made GPU has its own round numbers. Expected values are these, in the units of each form.
// tests/tools/test_exports.py has the programs that read them.
#include "analysis/study/exports/export.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;
using nlohmann::json;

namespace {

Ceiling of_gpu(const std::string& precision, const std::string& operation, double rate)
{
    Ceiling c = made::compute(precision, 1, rate);
    c.device = "gpu:0";
    c.operation = operation;
    return c;
}

/// A GPU with vectors and tensor cores; the peak of its bf16 is a lower bound.
Study with_gpu()
{
    Ceilings roofs = made::ceilings();
    Ceiling memory = made::bandwidth("DRAM", 1, 3e12);
    memory.device = "gpu:0";
    roofs.all.push_back(memory);
    for (const auto& [precision, operation, rate] : {std::tuple{"fp32", "fma", 60e12},
                                                     {"tf32", "tile", 400e12},
                                                     {"fp16", "fma", 120e12},
                                                     {"fp16", "tile", 800e12},
                                                     {"bf16", "tile", 850e12},
                                                     {"fp8", "tile", 1600e12},
                                                     {"fp8", "tile_e5m2", 1500e12},
                                                     {"int8", "tile", 1700e12}})
        roofs.all.push_back(of_gpu(precision, operation, rate));
    Study study = made::study({}, roofs);
    for (Ceiling& c : study.ceilings.all)
        if (c.precision == "bf16") c.steadiness = Steadiness::at_least;
    study.calibration.machine.devices.push_back({"gpu:0", "gpu", "Made GPU \"X\"", {}, {80 * 1073741824.0}, {}, {}});
    return study;
}

json json_of(const Study& study, const char* format, const char* device)
{
    return json::parse(exported(study, format, device));
}

}  // namespace

TEST_CASE(
    "TraceLens gets multiply-adds as matrix, those without tensor cores as vector, and nothing that was not measured")
{
    const json gpu = json_of(with_gpu(), "tracelens", "gpu:0");
    CHECK(gpu["name"] == "Made GPU \"X\"");
    CHECK(gpu["mem_bw_gbps"] == 3000);
    CHECK(gpu["memory_gb"] == 80);
    CHECK(gpu["max_achievable_tflops"] == json{{"matrix_fp32", 60},
                                               {"vector_fp32", 60},
                                               {"matrix_fp16", 800},
                                               {"vector_fp16", 120},
                                               {"matrix_bf16", 850},
                                               {"matrix_fp8", 1600},
                                               {"matrix_int8", 1700}});
    CHECK_THAT(gpu["_reference"].get<std::string>(), Contains("lower bounds: bf16"));
    const json cpu = json_of(with_gpu(), "tracelens", "cpu");
    CHECK(cpu["mem_bw_gbps"] == 10);
    CHECK_FALSE(cpu.contains("memory_gb"));
    CHECK(cpu["max_achievable_tflops"]["matrix_fp64"] == 0.05);
}

TEST_CASE("PyTorch gets each type that it names, and the kinds of fp8 apart")
{
    const std::string text = exported(with_gpu(), "pytorch", "gpu:0");
    for (const char* part :
         {"name = \"Made GPU \\\"X\\\"\"\n", "        torch.float32: 60,\n", "        \"torch.tf32\": 400,\n",
          "        torch.float16: 800,\n", "        torch.bfloat16: 850,\n", "        torch.float8_e4m3fn: 1600,\n",
          "        torch.float8_e5m2: 1500,\n", "        torch.int8: 1700,\n", "    dram_bw_gbs=3000,\n",
          "    dram_gb=80,\n"})
        CHECK_THAT(text, Contains(part));
    CHECK_THAT(text, !Contains("float64"));
    CHECK_THAT(exported(with_gpu(), "pytorch", "cpu"), Contains("dram_gb=float(\"nan\")"));
}

TEST_CASE("inference-sim gets bf16, fp8, memory, and shares of 1")
{
    json gpu = json_of(with_gpu(), "inference-sim", "gpu:0");
    json& peaks = gpu["Made GPU \"X\""];
    CHECK_THAT(peaks["_comment"].get<std::string>(), Contains("calibration"));
    peaks.erase("_comment");
    CHECK(peaks == json{{"TFlopsPeak", 850},
                        {"TFlopsFP8", 1600},
                        {"BwPeakTBs", 3},
                        {"MemoryGiB", 80},
                        {"mfuPrefill", 1},
                        {"mfuDecode", 1}});
    CHECK_THROWS_WITH(exported(with_gpu(), "inference-sim", "cpu"), Contains("bf16 or fp16"));
}

TEST_CASE("Prometheus gets the roofs of all devices in SI units; a lower bound has no upper end")
{
    Study study = with_gpu();
    study.calibration.machine.node = "n17";
    const std::string text = exported(study, "prometheus", "cpu");
    CHECK_THAT(text, Contains("# TYPE roof_bandwidth_bytes_per_second gauge\n"));
    CHECK_THAT(
        text,
        Contains("roof_bandwidth_bytes_per_second{device=\"cpu\",known=\"measured\",level=\"DRAM\",model=\"made\","
                 "node=\"n17\",operation=\"load\",state=\"steady\",threads=\"2\"} 1e+10\n") ||
            Contains("threads=\"2\"} 10000000000\n"));
    CHECK_THAT(text, Contains("model=\"Made GPU \\\"X\\\"\""));
    const auto lines_with = [&](const std::string& metric) {
        int lines = 0;
        for (std::size_t at = text.find("\n" + metric + "{"); at != std::string::npos;
             at = text.find("\n" + metric + "{", at + 1))
            ++lines;
        return lines;
    };
    CHECK(lines_with("roof_compute_flops_per_second") == 8);  // 2 of the CPU, 6 of the GPU
    CHECK(lines_with("roof_compute_flops_per_second_low") == 8);
    CHECK(lines_with("roof_compute_flops_per_second_high") == 7);
}

TEST_CASE("a peak is refused without the bandwidth of memory, and no peaks without ceilings")
{
    Ceilings roofs;
    roofs.all.push_back(made::compute("bf16", 2, 1e12));
    for (const char* format : {"tracelens", "pytorch", "inference-sim"})
        CHECK_THROWS_WITH(exported(made::study({}, roofs), format, "cpu"), Contains("DRAM"));
    for (const char* format : {"tracelens", "prometheus"})
        CHECK_THROWS_AS(exported(made::study({}, {}), format, "cpu"), InputError);
}
