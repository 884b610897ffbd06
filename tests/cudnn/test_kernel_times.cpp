// Prints the time of each of a step's own kernels on a GPU as CSV: test_cudnn_device "[.kernel_times]". MODEL, BATCH
// and PRECISION in the environment choose the step, by default ResNet-50 with 256 images in bf16. "[.moments]": the
// time of the ends of ResNet-50's blocks. Without a GPU they only say so.
#include "ert/base/precision.hpp"
#include "tests/cudnn/kernel_times.hpp"
#include "tests/cudnn/moments_trial.hpp"
#include "tests/skip.hpp"
#include "workloads/model/models.hpp"
#include "workloads/model/work.hpp"

#include <cuda_runtime_api.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>

using namespace roof;
using namespace roof::cudnn;

namespace {

std::string chosen(const char* name, const char* otherwise)
{
    const char* const given = std::getenv(name);
    return given == nullptr ? otherwise : given;
}

bool is_without_gpu()
{
    int count = 0;
    const bool none = cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
    cudaGetLastError();
    return none;
}

Settings chosen_settings()
{
    return {.batch = std::stoi(chosen("BATCH", "256")), .precision = parse_precision(chosen("PRECISION", "bf16"))};
}

}  // namespace

TEST_CASE("each of a step's own kernels has a time", "[.kernel_times]")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const Settings settings = chosen_settings();
    std::map<std::string, KernelTime> sums;
    std::printf("operation,launches,us_each,TB_per_s,us_all,operands\n");
    const auto print = [](const std::string& name, int launches, Seconds each, double rate,
                          const std::string& operands) {
        std::printf("%s,%d,%.2f,%.3f,%.1f,\"%s\"\n", name.c_str(), launches, 1e6 * each.value, 1e-12 * rate,
                    1e6 * each.value * launches, operands.c_str());
    };
    for (const KernelTime& one : time_kernels(model::build_model(chosen("MODEL", "resnet50")), settings)) {
        print(one.operation, one.launches, one.each, one.bytes.value / one.each.value, one.operands);
        CHECK(one.each.value > 0);
        KernelTime& sum = sums[one.operation];
        sum.launches += one.launches;
        sum.bytes += one.bytes * one.launches;
        sum.each += one.each * one.launches;
    }
    for (const auto& [name, sum] : sums)
        print(name + " (all)", sum.launches, sum.each / sum.launches, sum.bytes.value / sum.each.value, "");
    CHECK(sums.size() > 8);
}

TEST_CASE("the ends of ResNet-50's blocks have a time by passes and by moments", "[.moments]")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const Settings settings = chosen_settings();
    const gpu::Stream stream;
    Products products(stream, true);
    Plans plans(stream, settings, "this GPU", products);
    std::printf("shape,us_by_passes,us_by_moments,is_right\n");
    for (const auto& [channels, side] : {std::pair{64, 56}, {128, 28}, {256, 14}, {512, 7}}) {
        MomentsTrial trial(stream, settings, {channels, side, side}, plans, products);
        const bool is_right = trial.is_right(1);
        CHECK(is_right);
        std::printf("\"%s\",%.1f,%.1f,%d\n", text(trial.forward).c_str(), 1e6 * trial.seconds(0),
                    1e6 * trial.seconds(1), is_right ? 1 : 0);
    }
}
