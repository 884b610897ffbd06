// What else used the machine, from files in the kernel's format.
#include "cpu/host_monitor.hpp"
#include "cpu/noise_monitor.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include <unistd.h>

using namespace roof;
using namespace roof::cpu;

namespace {

struct HostKernel {
    fakes::TemporaryFolder folder;
    HostFiles files{folder / "stat", folder / "task"};
    double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));

    void processors(int user, int system, int steal) const
    {
        std::ofstream(files.processors) << "cpu  " << user << " 0 " << system << " 1000 7 0 0 " << steal
                                        << " 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
    }
    void thread(const std::string& id, long long waited_nanoseconds) const
    {
        std::filesystem::create_directories(files.threads / id);
        std::ofstream(files.threads / id / "schedstat") << "123456 " << waited_nanoseconds << " 9\n";
    }
};

}  // namespace

TEST_CASE("what other processes used is what was busy without this process; the longest wait of a thread counts")
{
    const HostKernel kernel;
    kernel.processors(1000, 100, 5);
    kernel.thread("11", 1'000'000'000);
    kernel.thread("12", 0);
    kernel.thread("13", 7'000'000'000);
    const HostCounts before = host_counts(kernel.files, 3);
    // In two seconds: 350 ticks busy, 2.5 s of processor time by this process, 40 ticks stolen.
    kernel.processors(1300, 150, 45);
    kernel.thread("11", 1'500'000'000);
    kernel.thread("12", 200'000'000);
    std::filesystem::remove_all(kernel.files.threads / "13");
    kernel.thread("14", 9'000'000'000);
    const HostUse use = use_between(before, host_counts(kernel.files, 5.5), 2);
    CHECK(*use.others == Approx((350 * kernel.tick - 2.5) / 2));
    CHECK(*use.stolen == Approx(40 * kernel.tick / 2));
    CHECK(*use.waited == Approx(0.25));
    CHECK_FALSE(use.shared);
}

TEST_CASE("what the kernel does not tell is not known, and not zero")
{
    const HostKernel kernel;
    const HostUse use = use_between(host_counts(kernel.files, 0), host_counts(kernel.files, 1), 1);
    CHECK_FALSE(use.others);
    CHECK_FALSE(use.stolen);
    CHECK_FALSE(use.waited);
    std::ofstream(kernel.files.processors) << "cpu 1 2 3\n";
    CHECK_FALSE(host_counts(kernel.files, 0).busy);
}

TEST_CASE("the monitor of this machine tells of a launch what it can")
{
    const auto monitor = host_monitor(std::make_shared<CoreHistory>());
    monitor->begin();
    const HostUse use = monitor->end();
    for (const auto& share : {use.waited, use.shared})
        if (share) CHECK((*share >= 0 && *share <= 1));
    if (use.others) CHECK(*use.others >= 0);
}
