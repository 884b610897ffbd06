// Any program on a CPU without counters, from the command line to its points under the roofs.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/skip.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/simulated_program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>

using namespace roof;
using namespace roof::tests;

TEST_CASE("a program without counters gets its FLOPs, bytes and functions from one command")
{
    if (const std::string reason = missing_simulation(); !reason.empty()) return skip(reason);
    if (!__builtin_cpu_supports("avx2")) return skip("this processor has no AVX2");
    const Workbench bench;
    const std::string loops = std::string(ROOF_KNOWN_LOOPS) + "_fma";
    const Said said = bench.roof({"profile", "--out", bench.path("run"), "--", loops, "ikj", "96", "1"});
    INFO(said.err);
    CHECK(said.status == 0);
    CHECK_THAT(said.err, Catch::Contains("known_loops_fma on cpu") && Catch::Contains("1.77 MFLOP (simulated)"));
    const std::string counters = read_file(bench.path("run/counters.csv"));
    const std::string flops = "\"FLOPs of fp32 by FMA, 256 bits\",1769472,FLOP";
    CHECK_THAT(counters, Catch::Contains("cpu,step,,,,," + flops) && Catch::Contains("cpu,kernel,,,ikj,0," + flops));
    CHECK_THAT(counters, Catch::Contains("lines into L1") && Catch::Contains("read from memory"));
    const std::string rows = read_file(bench.path("run/measurements.csv"));
    CHECK_THAT(rows, Catch::Contains("program cpu model=known_loops_fma precision=fp32") &&
                         Catch::Contains("simulated caches: "));
}

TEST_CASE("a program that fails is not simulated, and keeps its status")
{
    if (const std::string reason = missing_simulation(); !reason.empty()) return skip(reason);
    const Workbench bench;
    const Said said = bench.roof({"profile", "--simulate", "--out", bench.path("run"), "--", "sh", "-c", "exit 5"});
    CHECK(said.status == 5);
    CHECK_THAT(said.err, Catch::Contains("not simulated: the program ended with status 5"));
    const Said both = bench.roof({"profile", "--simulate", "--time-only", "--", "true"});
    CHECK(both.status == 2);
    CHECK_THAT(both.err, Catch::Contains("exclude each other"));
    const Said timed = bench.roof({"profile", "--time-only", "--out", bench.path("timed"), "--", "true"});
    CHECK(timed.status == 0);
    CHECK_THAT(read_file(bench.path("timed/measurements.csv")), !Catch::Contains("simulated"));
}

TEST_CASE("a program that does not run again, or is stopped then, keeps its time")
{
    if (const std::string reason = missing_simulation(); !reason.empty()) return skip(reason);
    const Workbench bench;
    const std::string script = "test -e " + bench.path("ran") + " && exit 3; touch " + bench.path("ran");
    const Said said = bench.roof({"profile", "--simulate", "--out", bench.path("run"), "--", "sh", "-c", script});
    CHECK(said.status == 0);
    CHECK_THAT(said.err, Catch::Contains("not simulated: ") && Catch::Contains("ended with status 3"));
}

TEST_CASE("samples of a program lie in its file")
{
    std::unique_ptr<Sampler> sampler;
    try {
        sampler = std::make_unique<Sampler>(Seconds{1e-3});
    } catch (const Unsupported& reason) {
        return skip(reason.what());
    }
    if (!__builtin_cpu_supports("avx2")) return skip("this processor has no AVX2");
    const std::string loops = std::string(ROOF_KNOWN_LOOPS) + "_fma";
    std::string problem;
    sampler->start();
    REQUIRE(run_again({loops, "ijk", "300", "10"}, {}, problem) == 0);
    sampler->stop();
    int lost = 0;
    const std::vector<SampledPlace> places = sampler->places(lost);
    const auto inside = std::ranges::find_if(
        places, [&](const SampledPlace& place) { return place.object.ends_with("known_loops_fma"); });
    REQUIRE(inside != places.end());
    CHECK(inside->place > 0);
    CHECK(inside->samples > 0);
    CHECK(inside->time.value > 0);
    CHECK(sampler->threads() == 1);
}

TEST_CASE("threads at work are those that share a process's samples")
{
    const auto spin = [] {
        const std::clock_t begin = std::clock();  // of the process: both threads together
        while (std::clock() - begin < CLOCKS_PER_SEC / 2) {
        }
    };
    try {
        Sampler sampler(Seconds{1e-3});
        sampler.start();
        std::thread one(spin), other(spin);
        one.join();
        other.join();
        sampler.stop();
        CHECK(sampler.threads() == 2);
    } catch (const Unsupported& reason) {
        return skip(reason.what());
    }
}

TEST_CASE("libraries are kept from instructions beyond AVX2, unless the user has said otherwise")
{
    ::setenv("GLIBC_TUNABLES", "glibc.malloc.check=1", 1);
    ::setenv("OPENBLAS_CORETYPE", "Zen", 1);
    const auto variables = variables_of_same_code();
    ::unsetenv("GLIBC_TUNABLES");
    ::unsetenv("OPENBLAS_CORETYPE");
    CHECK(variables.at("GLIBC_TUNABLES").starts_with("glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX512F"));
    CHECK_FALSE(variables.contains("OPENBLAS_CORETYPE"));
    CHECK(variables.at("ONEDNN_MAX_CPU_ISA") == "AVX2");
}

TEST_CASE("samples belong to the function that valgrind saw at their place, or to none")
{
    if (const std::string reason = missing_simulation(); !reason.empty()) return skip(reason);
    const Scratch scratch;
    const std::string object = (scratch.path() / "program").string();
    // An ELF file with one segment, at 0x1000 in memory and 0x40 in the file, all of it one header.
    std::string file(0x100, '\0');
    file.replace(0, 5,
                 "\x7f"
                 "ELF\x02");
    file[32] = 0x40, file[54] = 56, file[56] = 1;          // the program header: where, its size, how many
    file[0x40] = 1, file[0x48] = 0x40, file[0x51] = 0x10;  // to be loaded, from 0x40, to 0x1000
    file[0x60] = static_cast<char>(0xc0);                  // bytes in the file
    write_file(object, file);
    const std::vector<analysis::ExecutedFunction> functions{
        {"a", object, {{.address = 0x1010, .times = 5}, {.address = 0x1020, .times = 0}}},
        {"b", object, {{.address = 0x1010, .times = 2}, {.address = 0x1014, .times = 2}}}};
    const std::vector<SampledPlace> places{
        {object, 0x50, 3, {0.3}},                            // 0x1010: mostly a's
        {object, 0x54, 1, {0.1}}, {object, 0x60, 7, {0.7}},  // 0x1020 was never executed
        {"", 0, 2, {0.2}},        {"[vdso]", 0, 50, {5}},   {"/lib64/ld-linux-x86-64.so.2", 0, 50, {5}}};
    const SampledFunctions sampled = sampled_functions(places, functions);
    CHECK(sampled.samples == 13);
    CHECK(sampled.executed == 4);
    CHECK(sampled.elsewhere == object);
    CHECK(sampled.functions.at({object, "a"}).samples == 3);
    CHECK(sampled.functions.at({object, "a"}).time.value == Approx(0.3));
    CHECK(sampled.functions.at({object, "b"}).samples == 1);
}
