#include "ert/method/bench/process_limits.hpp"

#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;

namespace {

/// A machine with 8 GB available.
struct System {
    System() { put("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n"); }

    void put(const std::string& file, const std::string& text) const
    {
        make_folder((folder / file).parent_path());
        write_file(folder / file, text);
    }
    double available() const { return available_memory(folder.path()).value; }

    fakes::TemporaryFolder folder;
};

constexpr double of_kernel = 8e6 * 1024;

}  // namespace

TEST_CASE("the memory of a control group of version 2 is what it and its parents leave, with files that can be dropped")
{
    const System system;
    CHECK(system.available() == of_kernel);
    system.put("proc/self/cgroup", "0::/pods/one:of:two\n");
    system.put("sys/fs/cgroup/pods/one:of:two/memory.max", "max\n");
    CHECK(system.available() == of_kernel);
    system.put("sys/fs/cgroup/pods/memory.max", "5000000000\n");
    system.put("sys/fs/cgroup/pods/memory.current", "2000000000\n");
    CHECK(system.available() == 3e9);
    system.put("sys/fs/cgroup/pods/memory.stat", "anon 7\ninactive_file 500000000\n");
    CHECK(system.available() == 3.5e9);
    system.put("sys/fs/cgroup/pods/one:of:two/memory.max", "1000000000\n");
    CHECK(system.available() == 1e9);
    system.put("sys/fs/cgroup/pods/one:of:two/memory.current", "1500000000\n");
    CHECK(system.available() == 0);
}

TEST_CASE("the memory of a control group of version 1 is read, whatever other controllers there are")
{
    const System system;
    system.put("proc/self/cgroup", "12:cpu,cpuacct:/a\n7:hugetlb,memory:/b\n");
    system.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000000\n");  // the mount's root
    system.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000000\n");
    CHECK(system.available() == 3e9);
}

TEST_CASE("available memory is at most the limit of the control group less what is held")
{
    const System system;
    system.put("proc/self/cgroup", "0::/pods\n");
    system.put("sys/fs/cgroup/pods/memory.max", "1000000000\n");
    system.put("sys/fs/cgroup/pods/memory.current", "200000000\n");
    const auto beside = [&](double held) { return available_memory(system.folder.path(), Bytes{held}).value; };
    CHECK(beside(1e8) == 8e8);
    CHECK(beside(3e8) == 7e8);
    CHECK(beside(2e9) == 0);
    CHECK(resident_memory(system.folder.path()) == Bytes{});
    system.put("proc/self/status", "Name:\troof\nVmSize:\t  500000 kB\nVmRSS:\t   30000 kB\n");
    CHECK(resident_memory(system.folder.path()) == Bytes{30'000 * 1024.0});
}

TEST_CASE("without /proc and limits the available memory is infinite")
{
    const fakes::TemporaryFolder nothing;
    CHECK(std::isinf(available_memory(nothing.path()).value));
}

TEST_CASE("the limits of the address space and of private data leave what is not used of them")
{
    for (const auto& [kind, line] :
         {std::pair{RLIMIT_AS, "VmSize:\t  500000 kB\n"}, {RLIMIT_DATA, "VmData:\t  500000 kB\n"}}) {
        const System system;
        const pid_t child = ::fork();
        if (child == 0) {
            const rlimit limit{1'000'000'000, 1'000'000'000};
            ::setrlimit(kind, &limit);
            const bool is_whole = system.available() == 1e9;
            system.put("proc/self/status", std::string("Name:\troof\nVmPeak:\t  900000 kB\n") + line);
            ::_exit(is_whole && system.available() == 1e9 - 500'000 * 1024.0 ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
}

TEST_CASE("a control group's limit that stopped this process is told as a share of its periods, in both versions")
{
    const System system;
    system.put("proc/self/cgroup", "4:cpu,cpuacct:/jobs/a\n0::/pods\n");
    const auto first = [&](int periods, int throttled) {
        system.put("sys/fs/cgroup/cpu/jobs/cpu.stat", "nr_periods " + std::to_string(periods) + "\nnr_throttled " +
                                                          std::to_string(throttled) + "\nthrottled_time 12345\n");
    };
    const auto second = [&](int periods, int throttled) {
        system.put("sys/fs/cgroup/pods/cpu.stat", "usage_usec 5\nnr_periods " + std::to_string(periods) +
                                                      "\nnr_throttled " + std::to_string(throttled) +
                                                      "\nthrottled_usec 77\n");
    };
    first(100, 50);
    second(10, 1);
    const auto before = group_periods(system.folder.path());
    CHECK(throttling_since(before).empty());  // no period has ended
    first(200, 51);
    CHECK(throttling_since(before).empty());  // 1 of 100
    second(50, 31);
    CHECK(throttling_since(before) ==
          "the control group's limit throttled this process in 75% of its periods");  // 30 of 40
}

TEST_CASE("variables by which libraries measure otherwise are named, and a path is not")
{
    for (const char* name : {"GOMP_SPINCOUNT", "ONEDNN_TEST", "NCCL_TEST_FILE"}) ::unsetenv(name);
    const std::string before = variables_set();
    ::setenv("GOMP_SPINCOUNT", "0", 1);
    ::setenv("ONEDNN_TEST", "AVX2", 1);
    ::setenv("NCCL_TEST_FILE", "/home/me/file", 1);
    ::setenv("OMP_NUM_THREADS_OF_A_TEST", "3", 1);
    const std::string after = variables_set();
    for (const char* name : {"GOMP_SPINCOUNT", "ONEDNN_TEST", "NCCL_TEST_FILE", "OMP_NUM_THREADS_OF_A_TEST"})
        ::unsetenv(name);
    CHECK(after.find("GOMP_SPINCOUNT=0, ") != std::string::npos);
    CHECK(after.find("ONEDNN_TEST=AVX2") != std::string::npos);
    CHECK(after.find("NCCL_TEST_FILE") != std::string::npos);
    CHECK(after.find("/home/me") == std::string::npos);
    CHECK(after.find("OMP_NUM_THREADS") == std::string::npos);
    CHECK(variables_set() == before);
}
