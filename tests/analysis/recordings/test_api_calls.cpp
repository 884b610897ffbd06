#include "analysis/recordings/totals.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("the name of a call determines its purpose")
{
    CHECK(purpose_of("cudaLaunchKernel") == CallPurpose::launch);
    CHECK(purpose_of("cudaLaunchKernelExC") == CallPurpose::launch);
    CHECK(purpose_of("cuGraphLaunch") == CallPurpose::launch);
    CHECK(purpose_of("cudaStreamSynchronize") == CallPurpose::wait);
    CHECK(purpose_of("cudaEventSynchronize") == CallPurpose::wait);
    CHECK(purpose_of("cudaStreamWaitEvent") == CallPurpose::event);
    CHECK(purpose_of("cuMemcpyHtoDAsync") == CallPurpose::copy);
    CHECK(purpose_of("cudaMemsetAsync") == CallPurpose::copy);
    CHECK(purpose_of("cudaMalloc") == CallPurpose::allocate);
    CHECK(purpose_of("cuMemAlloc") == CallPurpose::allocate);
    CHECK(purpose_of("cudaFree") == CallPurpose::allocate);
    CHECK(purpose_of("cudaEventRecord") == CallPurpose::event);
    CHECK(purpose_of("cudaGetDevice") == CallPurpose::other);
}

TEST_CASE("calls are summed by name, without the version suffix")
{
    const fakes::TemporaryFolder folder;
    const auto call = [](const std::string& name, double seconds) {
        ApiRecord record;
        record.name = name;
        record.duration = {seconds};
        return record;
    };
    append_records<ApiRecord>(folder.path(), "r",
                              std::vector{call("cudaLaunchKernel_v7000", 1), call("cudaLaunchKernel", 3),
                                          call("cudaMalloc_v3020", 5), call("cuMemcpy_v_x", 1)});
    const std::vector<CallTotal> totals = add_up_calls(folder.path());
    REQUIRE(totals.size() == 3);
    CHECK(totals[0].name == "cudaMalloc");
    CHECK(totals[1].name == "cudaLaunchKernel");
    CHECK(totals[1].calls == 2);
    CHECK(totals[1].seconds == Seconds{4});
    CHECK(totals[1].longest == Seconds{3});
    CHECK(totals[2].name == "cuMemcpy_v_x");
}
