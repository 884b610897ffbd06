// Kernels are summed while they are read, so memory depends on the number of names, not of kernels.
#include "analysis/recordings/time_breakdown.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <fstream>

using namespace roof;
using namespace roof::analysis;

namespace {

constexpr std::size_t million = 1'000'000;

/// The digest of a folder with this kernels.csv.
KernelDigest digest(const fakes::TemporaryFolder& folder)
{
    return read_kernels(folder.path(), built_in_kernel_rules(), {}).digest;
}

KernelDigest digest(const std::string& text)
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "kernels.csv", text);
    return digest(folder);
}

long peak_kilobytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("a million kernels become one total per name, with little memory")
{
    const fakes::TemporaryFolder folder;
    {
        std::ofstream csv(folder / "kernels.csv");
        // No start: the time breakdown keeps an interval for each kernel that has one.
        csv << "id,name,stream,duration_s\n";
        for (std::size_t i = 1; i <= million; ++i)
            csv << "train gpu model=net,\"void gemm<" << i % 500 << ", 4>\",7,0.000001\n";
    }
    const long before = peak_kilobytes();
    const KernelDigest found = digest(folder);
    CHECK(found.launches == million);
    REQUIRE(found.totals.size() == 500);
    CHECK(found.totals[0].launches == million / 500);
    CHECK(found.totals[0].seconds == Approx(0.002));
    CHECK(found.totals[0].category == "GEMM");
    CHECK(peak_kilobytes() - before < 100'000);
    CHECK(peak_kilobytes() < 1'000'000);
}

TEST_CASE("a truncated last line is left out, and a malformed line is reported")
{
    CHECK(digest("id,name,duration_s\nr,k,1\nr,k,2").launches == 1);
    CHECK_THROWS_WITH(digest("id,name,duration_s\nr,k,x\n"), Catch::Contains("kernels.csv:2"));
    CHECK_THROWS_WITH(digest("id,name,duration_s\nr,k\n"), Catch::Contains("2 cells, its header has 3"));
    CHECK_THROWS_AS(digest("id,name\n"), InputError);
    CHECK_THROWS_AS(digest(""), InputError);
}
