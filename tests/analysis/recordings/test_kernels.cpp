// Kernels are summed while they are read, so memory depends on the number of names, not of kernels.
#include "analysis/recordings/kernels.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sstream>
#include <streambuf>

using namespace roof;
using namespace roof::analysis;

namespace {

constexpr std::size_t million = 1'000'000;

/// Generates lines while they are read, so the test holds no file in memory.
class Lines : public std::streambuf {
  public:
    explicit Lines(std::size_t count) : count_(count) {}

  protected:
    int_type underflow() override
    {
        if (next_ > count_) return traits_type::eof();
        line_ = next_ == 0 ? "id,name,stream,start_s,duration_s\n"
                           : "train gpu model=net,\"void gemm<" + std::to_string(next_ % 500) + ", 4>\",7," +
                                 std::to_string(next_) + ",0.000001\n";
        ++next_;
        setg(line_.data(), line_.data(), line_.data() + line_.size());
        return traits_type::to_int_type(*gptr());
    }

  private:
    std::size_t count_;
    std::size_t next_ = 0;
    std::string line_;
};

KernelDigest digest(const std::string& text)
{
    std::istringstream csv(text);
    return digest_kernels(csv, "kernels.csv");
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
    const long before = peak_kilobytes();
    Lines lines(million);
    std::istream csv(&lines);
    const KernelDigest found = digest_kernels(csv, "kernels.csv");
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
