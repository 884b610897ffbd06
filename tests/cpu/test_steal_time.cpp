// Steal time and throttling, from files in the kernel's format.
#include "../fakes/temporary_folder.hpp"
#include "cpu/host_monitor.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

using namespace roof::cpu;

namespace {

/// The eighth number of each processor's line is the steal time.
void write_processors(const std::filesystem::path& file, int of_first, int of_second)
{
    std::ofstream(file) << "cpu  10 0 10 1000 0 0 0 " << of_first + of_second << " 0 0\n"
                        << "cpu0 5 0 5 500 0 0 0 " << of_first << " 0 0\n"
                        << "cpu1 5 0 5 500 0 0 0 " << of_second << " 0 0\n"
                        << "intr 12345 1 2 3\n";
}

void write_group(const std::filesystem::path& file, int throttled, const std::string& time)
{
    std::ofstream(file) << "nr_periods 100\nnr_throttled " << throttled << "\n" << time << " 12345\n";
}

struct Kernel {
    roof::fakes::TemporaryFolder folder;
    StealFiles files{folder / "stat", {folder / "version2", folder / "version1"}};

    Kernel()
    {
        write_processors(files.processors, 3, 7);
        write_group(files.groups[0], 0, "throttled_usec");
        write_group(files.groups[1], 0, "throttled_time");
    }
};

}  // namespace

TEST_CASE("steal time is that of the given processors, not of the whole machine")
{
    const Kernel kernel;
    CHECK(steal_so_far(kernel.files, {0}).stolen == 3);
    CHECK(steal_so_far(kernel.files, {1}).stolen == 7);
    CHECK(steal_so_far(kernel.files, {0, 1}).stolen == 10);
    CHECK(steal_so_far(kernel.files, {11}).stolen == 0);
}

TEST_CASE("a launch is stolen only if the host took a processor during it")
{
    const Kernel kernel;
    StealMonitor watch({0}, kernel.files);
    watch.begin();
    CHECK(watch.end().empty());
    write_processors(kernel.files.processors, 3, 8);
    CHECK(watch.end().empty());
    write_processors(kernel.files.processors, 4, 8);
    CHECK_THAT(std::string(watch.end()), Catch::Contains("stolen"));
    watch.begin();
    CHECK(watch.end().empty());
}

TEST_CASE("a launch is throttled if a control group or a parent was throttled during it, in either version")
{
    const Kernel kernel;
    for (const auto& [group, time] : {std::pair{0, "throttled_usec"}, {1, "throttled_time"}}) {
        StealMonitor watch({0}, kernel.files);
        watch.begin();
        write_group(kernel.files.groups[static_cast<std::size_t>(group)], 1, time);
        CHECK_THAT(std::string(watch.end()), Catch::Contains("throttled"));
    }
}

TEST_CASE("nothing is stolen if the host never took time or the files are missing")
{
    const Kernel kernel;
    write_processors(kernel.files.processors, 0, 0);
    StealMonitor never({0, 1}, kernel.files);
    never.begin();
    CHECK(never.end().empty());
    StealMonitor blind({0}, {kernel.folder / "none", {kernel.folder / "none"}});
    blind.begin();
    CHECK(blind.end().empty());
    const StealTime cut_off = [&] {
        std::ofstream(kernel.files.processors) << "cpu0 5 0";
        return steal_so_far(kernel.files, {0});
    }();
    CHECK(cut_off.stolen == 0);
}
