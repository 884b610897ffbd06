// Published numbers: parsing, and detection of impossible values by the estimate.
#include "analysis/estimate/published.hpp"

#include "analysis/report/pages.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

const std::string header =
    "study,model,batch,phase,precision,machine,devices,images,layer,quantity,value,unit,how,source,note\n";

/// A machine of 15.7 TFLOP/s, 900 GB/s and 16.9 GB.
std::vector<Target> targets()
{
    MachineSheet sheet{.name = "v100", .title = "A V100", .kind = "gpu"};
    sheet.peaks = {{Precision::fp32, FlopRate{15.7e12}}};
    sheet.levels = {{"DRAM", ByteRate{900e9}, Bytes{16.9e9}}};
    return {target_of(sheet)};
}

/// The assessment of "resnet18 batch phase quantity value unit [layer]" on the V100.
Assessment assessed(const std::string& model, int batch, const std::string& phase, const std::string& quantity,
                    const std::string& value, const std::string& unit, const std::string& layer = "")
{
    const std::string row = "x," + model + "," + std::to_string(batch) + "," + phase + ",fp32,v100,1,," + layer + "," +
                            quantity + "," + value + "," + unit + ",timed,somebody,\n";
    return assess(parse_published(header + row, "x.csv"), targets()).front();
}

}  // namespace

TEST_CASE("a published number has its unit and its SI value")
{
    const auto numbers = parse_published(
        header + "d,resnet18,10,step,fp32,v100,2,1000,conv1,flop_rate,6.51,TFLOP/s,counter,\"a, b\",why\n", "d.csv");
    REQUIRE(numbers.size() == 1);
    CHECK(numbers[0].of.model == "resnet18");
    CHECK(numbers[0].of.batch == 10);
    CHECK(numbers[0].of.devices == 2);
    CHECK(numbers[0].of.images == 1000);
    CHECK(numbers[0].value == 6.51);
    CHECK(numbers[0].unit == "TFLOP/s");
    CHECK(numbers[0].si == Approx(6.51e12));
    CHECK(numbers[0].source == "a, b");
    CHECK(numbers[0].where == "d.csv:2");
}

TEST_CASE("an unknown quantity or unit and an invalid number are refused with line and legal values")
{
    const auto parse = [](const std::string& cells) { return parse_published(header + cells + "\n", "x.csv"); };
    CHECK_THROWS_WITH(parse("a,resnet18,1,step,fp32,,,,,speed,1,m/s,,,"), Contains("x.csv:2") && Contains("flop_rate"));
    CHECK_THROWS_WITH(parse("a,resnet18,1,step,fp32,,,,,flop_rate,1,Gflop/s,,,"),
                      Contains("x.csv:2") && Contains("'Gflop/s'") && Contains("GFLOP/s, TFLOP/s"));
    CHECK_THROWS_WITH(parse("a,resnet18,1,step,fp32,,,,,time,soon,s,,,"), Contains("x.csv:2") && Contains("'soon'"));
    for (const char* batch : {"2e+21", "99999999999", "0", "-1"})
        CHECK_THROWS_WITH(parse(std::string("a,resnet18,") + batch + ",step,fp32,,,,,time,1,s,,,"),
                          Contains("x.csv:2: batch '") && Contains("no whole number above 0"));
    CHECK_THROWS_AS(parse_published("study,model\na,b\n", "x.csv"), InputError);
}

TEST_CASE("a rate above the peak or above the memory roof at its intensity is impossible")
{
    CHECK(assessed("resnet18", 10, "step", "flop_rate", "6.51", "TFLOP/s").verdict == Verdict::plausible);
    CHECK(assessed("resnet18", 10, "step", "flop_rate", "16.5", "TFLOP/s").verdict == Verdict::impossible);
    const std::string rows =
        "a,resnet18,10,step,fp32,v100,1,,,intensity,4,FLOP/B,counter,,\n"
        "a,resnet18,10,step,fp32,v100,1,,,flop_rate,6.51,TFLOP/s,counter,,\n";
    const auto both = assess(parse_published(header + rows, "x.csv"), targets());
    CHECK(both[1].verdict == Verdict::impossible);
    CHECK(both[1].estimated == Approx(3.6e12));
}

TEST_CASE("GFLOP/s printed instead of TFLOP/s are detected: the rate is a two-thousandth of the roof")
{
    const Assessment a = assessed("resnet18", 10, "step", "flop_rate", "6.51", "GFLOP/s");
    CHECK(a.verdict == Verdict::doubtful);
    CHECK_THAT(a.remark, Contains("one prefix higher it would be 41%") && Contains("the unit is wrong"));
}

TEST_CASE("150 MB for an image of 150 KB are detected")
{
    const Assessment a = assessed("resnet18", 1, "step", "image", "150", "MB");
    CHECK(a.verdict == Verdict::doubtful);
    CHECK(a.estimated == 3 * 224 * 224);
    CHECK_THAT(a.remark, Contains("the unit is wrong"));
    CHECK(assessed("resnet18", 1, "step", "image", "150", "KB").verdict == Verdict::agrees);
    CHECK(assessed("resnet18", 1, "step", "image", "602", "KB").verdict == Verdict::agrees);
}

TEST_CASE("a 7x7 window instead of 3x3 is detected, with its effect on the FLOPs")
{
    const Assessment a = assessed("resnet18", 1, "step", "window", "7", "pixels", "layer1.0.conv1");
    CHECK(a.verdict == Verdict::differs);
    CHECK_THAT(a.remark, Contains("3x3") && Contains("5.4 times"));
    CHECK(assessed("resnet18", 1, "step", "window", "7", "pixels", "conv1").verdict == Verdict::agrees);
    CHECK(assessed("resnet18", 1, "step", "window", "7", "pixels", "conv9").verdict == Verdict::unchecked);
}

TEST_CASE("FLOPs agree with those of torchinfo, and additions alone and multiply-adds are detected")
{
    CHECK(assessed("resnet18", 256, "forward", "flops", "928820000000", "FLOP").verdict == Verdict::agrees);
    CHECK(assessed("alexnet", 256, "forward", "flops", "365920000000", "FLOP").verdict == Verdict::agrees);
    CHECK(assessed("vgg16", 256, "forward", "flops", "7920", "GFLOP").verdict == Verdict::agrees);
    CHECK_THAT(assessed("resnet18", 1, "forward", "flops_per_image", "1.81", "GFLOP").remark,
               Contains("multiply-adds"));
    CHECK(assessed("alexnet", 1, "forward", "flops_per_image", "3566912", "FLOP").verdict == Verdict::doubtful);
    CHECK_THAT(assessed("alexnet", 1, "forward", "flops_per_image", "3566912", "FLOP").remark,
               Contains("400 times too few"));
}

TEST_CASE("activations measured in PyTorch agree if its pool indices are counted")
{
    const Assessment vgg = assessed("vgg16", 256, "forward", "activations", "18619539456", "B");
    CHECK(vgg.verdict == Verdict::agrees);
    CHECK_THAT(vgg.remark, Contains("8 bytes"));
    CHECK(vgg.estimated == Approx(18619539456.0).epsilon(0.005));
    CHECK(assessed("resnet18", 256, "forward", "activations", "5529157632", "B").verdict == Verdict::agrees);
    CHECK(assessed("alexnet", 256, "forward", "activations", "796762112", "B").verdict == Verdict::agrees);
    CHECK(assessed("resnet18", 256, "forward", "memory", "5.5", "MB").verdict == Verdict::doubtful);
}

TEST_CASE("a time below its roofs is impossible, and a much longer time includes more than the work")
{
    CHECK(assessed("resnet18", 256, "forward", "time", "0.0034", "s").verdict == Verdict::impossible);
    CHECK(assessed("resnet18", 256, "forward", "time", "120", "ms").verdict == Verdict::plausible);
    CHECK(assessed("resnet18", 256, "forward", "time", "3.07", "s").verdict == Verdict::doubtful);
    const Assessment once = assessed("resnet18", 256, "forward", "time", "59.2", "ms");
    CHECK(once.verdict == Verdict::agrees);
    CHECK_THAT(once.remark, Contains("once for the whole network"));
    CHECK(assessed("resnet18", 256, "step", "epoch", "100", "s").verdict == Verdict::impossible);
}

TEST_CASE("the quantity fits is estimated, a share is not")
{
    CHECK(assessed("vgg16", 512, "forward", "fits", "0", "").verdict == Verdict::agrees);
    CHECK(assessed("vgg16", 512, "forward", "fits", "1", "").verdict == Verdict::differs);
    CHECK(assessed("vgg16", 64, "forward", "fits", "1", "").verdict == Verdict::agrees);
    CHECK(assessed("alexnet", 4, "step", "share", "45", "%").verdict == Verdict::unchecked);
}

TEST_CASE("the page of a study draws its published points and warns of those above a roof")
{
    const std::string rows =
        "a,resnet18,10,step,fp32,v100,1,,,intensity,24.5,FLOP/B,counter,<b>,\n"
        "a,resnet18,10,step,fp32,v100,1,,,flop_rate,17,TFLOP/s,counter,,\n";
    const auto numbers = assess(parse_published(header + rows, "x.csv"), targets());
    const std::vector<Answered> answers{{"1 < 2", Answer::holds, "1.00 < 2.00"}};
    const std::string page = published_page("a", numbers, answers, targets());
    CHECK_THAT(page, Contains("<svg") && Contains("resnet18 b10, published: 17 TFLOP/s") && Contains("spec"));
    CHECK_THAT(page, Contains("class=\"warning\"") && Contains("is impossible"));
    CHECK_THAT(page, Contains("1 &lt; 2") && Contains("holds") && !Contains("<b>"));
}
