#include "analysis/recordings/counted_work.hpp"
#include "ert/base/text.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

std::string executed(const std::string& operation)
{
    return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

}  // namespace

TEST_CASE("a multiply-add counts twice, and pairs count for each of the two")
{
    const Metrics metrics{
        {executed("fadd"), {10, "inst"}}, {executed("fmul"), {20, "inst"}}, {executed("ffma"), {30, "inst"}},
        {executed("fadd2"), {1, "inst"}}, {executed("fmul2"), {1, "inst"}}, {executed("ffma2"), {1, "inst"}},
        {executed("hadd"), {1, "inst"}},  {executed("hmul"), {10, "inst"}}, {executed("hfma"), {100, "inst"}}};
    const CountedWork work = count_work(metrics);
    CHECK(work.flops.at("fp32") == Flops{90 + 8});
    CHECK(work.flops.at("fp16") == Flops{2 + 20 + 400});
    CHECK(work.precision() == "fp16");
    CHECK(work.total() == Flops{520});
}

TEST_CASE("an incomplete sum of FLOPs is not counted, but named")
{
    const CountedWork work = count_work({{executed("fadd"), {10, "inst"}}});
    CHECK(work.flops.empty());
    REQUIRE_FALSE(work.missing.empty());
    CHECK_THAT(work.missing.front(), Catch::Contains("fmul and ffma not counted"));
}

TEST_CASE("tensor operations: a sum and its parts are never added")
{
    const std::string stem = "sm__ops_path_tensor_src_";
    const CountedWork with_parent = count_work({{stem + "fp16_dst_fp32.sum", {100, ""}},
                                                {stem + "fp16_dst_fp32_sparsity_off.sum", {100, ""}},
                                                {stem + "int8.sum", {7, ""}},
                                                {"sm__ops_path_tensor_op_hmma_src_fp16.sum", {100, ""}}});
    CHECK(with_parent.flops.at("fp16") == Flops{100});
    CHECK(with_parent.total() == Flops{100});
    const CountedWork parts = count_work(
        {{stem + "tf32_dst_fp32_sparsity_off.sum", {60, ""}}, {stem + "tf32_dst_fp32_sparsity_on.sum", {40, ""}}});
    CHECK(parts.flops.at("tf32") == Flops{100});
    CHECK_THAT(count_work({{"sm__inst_executed_pipe_tensor.sum", {5, "inst"}}}).missing.front(),
               Catch::Contains("counts instructions"));
}

TEST_CASE("tensor operations of a precision that no metric counts are named")
{
    const std::string stem = "sm__ops_path_tensor_src_";
    const auto missing = [](const Metrics& metrics) { return join(count_work(metrics).missing, "; "); };
    const Metrics scalar{
        {executed("dadd"), {1, "inst"}}, {executed("dmul"), {1, "inst"}}, {executed("dfma"), {1, "inst"}}};
    CHECK_THAT(missing(scalar), Catch::Contains("FLOPs of tensor cores: there is no metric"));
    // What `roof profile --counters` counts on a GH100 without the rare metrics: a DGEMM would be left out.
    Metrics hopper = scalar;
    for (const char* const source : {"fp16", "bf16_dst_fp32", "tf32_dst_fp32"})
        hopper[stem + source + ".sum"] = {0, ""};
    CHECK_THAT(missing(hopper), Catch::Contains("FLOPs of tensor cores in fp64, fp8, int8: there is no metric"));
    hopper[stem + "fp64_sparsity_off.sum"] = hopper[stem + "fp8.sum"] = hopper[stem + "int8.sum"] = {0, ""};
    CHECK_THAT(missing(hopper), !Catch::Contains("tensor cores"));
}

TEST_CASE("bytes: a total, both directions, or sectors of 32 bytes")
{
    CHECK(count_work({{"dram__bytes.sum", {5, "byte"}}}).bytes.at("DRAM") == Bytes{5});
    CHECK(
        count_work({{"dram__bytes_read.sum", {5, "byte"}}, {"dram__bytes_write.sum", {6, "byte"}}}).bytes.at("DRAM") ==
        Bytes{11});
    CHECK(count_work({{"dram__sectors_read.sum", {5, "sector"}}, {"dram__sectors_write.sum", {6, "sector"}}})
              .bytes.at("DRAM") == Bytes{352});
    CHECK(count_work({{"lts__t_sectors.sum", {2, "sector"}}}).bytes.at("L2") == Bytes{64});
    const CountedWork half = count_work({{"dram__bytes_read.sum", {5, "byte"}}});
    CHECK(half.bytes.empty());
    CHECK_THAT(half.missing[1], Catch::Contains("only one direction"));
    CHECK(count_work({{"dram__bytes.sum", {5, "byte/s"}}}).bytes.empty());
}
