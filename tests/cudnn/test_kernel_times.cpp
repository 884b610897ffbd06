// Prints the time of each of a step's own kernels on a GPU as CSV: test_cudnn_device "[.kernel_times]". MODEL, BATCH and PRECISION in the
// environment choose the step, by default ResNet-50 with 256 images in bf16. Without a GPU it only says so.
#include "ert/base/precision.hpp"
#include "tests/cudnn/kernel_times.hpp"
#include "workloads/model/models.hpp"

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

}  // namespace

TEST_CASE("each of a step's own kernels has a time", "[.kernel_times]")
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        cudaGetLastError();
        WARN("skipped: there is no GPU here");
        return;
    }
    const Settings settings{.batch = std::stoi(chosen("BATCH", "256")),
                            .precision = parse_precision(chosen("PRECISION", "bf16"))};
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
