// Probe "ert": loops have exactly the stated intensity, and their results are checked to the last bit.
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/probes/checks.hpp"
#include "cpu/probes/probes.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/probe_bed.hpp"
#include "tests/skip.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;
using Catch::Matchers::Contains;

namespace {

constexpr const char* words[] = {"1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "16"};

bool usable(std::string_view isa)
{
    const std::vector<std::string> isas = usable_isas();
    const std::vector<std::string> features = usable_features();
    return std::ranges::count(isas, isa) > 0 && std::ranges::count(features, "fma") > 0;
}

/// Calls use(kernel, precision, intensity) for every loop of the probe.
template <class Use>
void for_kernels(const Use& use)
{
    for (const char* isa : {"avx2", "avx512"}) {
        for (const Precision precision : {Precision::fp64, Precision::fp32}) {
            for (const char* word : words) {
                const FmaRatio ratio = fma_ratio(parse_intensity(word), precision);
                for (const int length : IntensityKernel::lengths(ratio)) {
                    CAPTURE(isa, traits(precision).name, word, length);
                    use(IntensityKernel(parse_isa(isa), precision, ratio, length), precision, parse_intensity(word));
                }
            }
        }
    }
}

/// Likewise, for the loops that this machine can run.
template <class Use>
void for_usable_kernels(const Use& use)
{
    for_kernels([&](const IntensityKernel& kernel, Precision precision, double intensity) {
        if (usable(kernel.isa().name)) use(kernel, precision, intensity);
    });
}

/// One thread's array of a few iterations, from element `first` of a slice, and the kernel's result.
struct Bed {
    Bed(const IntensityKernel& loop, Precision precision)
        : kernel(loop),
          bytes(3 * loop.bytes_per_iteration()),
          slice(1 << 20, "a test", {}),
          factor(1, 64, precision),
          result(loop.accumulators(), loop.isa().register_bytes, precision),
          first(from / static_cast<std::size_t>(traits(precision).storage_bytes))
    {
        factor.broadcast(0, 1);
        slice.ensure(ert_writer(precision), 0, slice.size());
    }

    void run(std::size_t passes) { kernel.run(passes, bytes, slice.data() + from, factor.data(), result.data()); }
    void check(std::size_t passes) const { check_ert(kernel, first, bytes, passes, result); }

    static constexpr std::size_t from = 4096;
    const IntensityKernel& kernel;
    std::size_t bytes;
    Slice slice;
    RegisterFile factor;
    RegisterFile result;
    std::size_t first;
};

}  // namespace

TEST_CASE("the loads and multiply-adds in the loop give the counted intensity")
{
    for_kernels([](const IntensityKernel& kernel, Precision precision, double intensity) {
        std::size_t loaded = 0;
        double flops = 0;
        for (const Instruction& instruction : decode(kernel.loop())) {
            CHECK(instruction.kind != InstructionKind::other);
            CHECK_FALSE(instruction.writes_memory);
            if (instruction.reads_memory) loaded += static_cast<std::size_t>(instruction.bytes);
            if (instruction.kind == InstructionKind::fma)
                flops += 2.0 * instruction.bytes / traits(precision).storage_bytes;
        }
        CHECK(loaded == kernel.bytes_per_iteration());
        CHECK(flops == kernel.flops_per_iteration());
        CHECK(flops / static_cast<double>(loaded) == intensity);
    });
}

TEST_CASE("multiply-adds rotate over enough chains at equal distances")
{
    for_kernels([](const IntensityKernel& kernel, Precision, double) {
        std::vector<int> targets;
        for (const IntensityKernel::Use& use : kernel.uses()) {
            if (!use.is_words) targets.push_back(use.target);
        }
        const int chains = *std::ranges::max_element(targets) + 1;
        for (std::size_t i = 0; i < targets.size(); ++i) CHECK(targets[i] == static_cast<int>(i) % chains);
        CHECK(static_cast<int>(targets.size()) % chains == 0);
        if (static_cast<int>(targets.size()) >= kernel.vectors()) CHECK(chains >= 12);
    });
}

TEST_CASE("every loop that this machine can run agrees with the host")
{
    if (!usable("avx2")) return skip("this processor has no AVX2");
    for_usable_kernels([](const IntensityKernel& kernel, Precision precision, double) {
        Bed bed(kernel, precision);
        bed.run(2);
        CHECK_NOTHROW(bed.check(2));
        CHECK_THROWS_AS(bed.check(3), Error);
    });
}

TEST_CASE("every load affects the result")
{
    if (!usable("avx2")) return skip("this processor has no AVX2");
    for_usable_kernels([](const IntensityKernel& kernel, Precision precision, double) {
        Bed bed(kernel, precision);
        const std::size_t vector = static_cast<std::size_t>(kernel.operand_bytes());
        for (std::size_t at = 0; at < bed.bytes; at += vector) {
            bed.slice.data()[Bed::from + at + vector - 1] ^= std::byte{0x80};  // the last element's sign
            bed.run(1);
            CHECK_THROWS_AS(bed.check(1), Error);
            bed.slice.data()[Bed::from + at + vector - 1] ^= std::byte{0x80};
        }
    });
}

TEST_CASE("an ert subject launches, passes its check and has exactly its intensity")
{
    const Topology topology = read_topology();
    if (!usable("avx2")) return skip("this processor has no AVX2");
    const auto bench = ert_bench(context(topology.processors));
    const auto threads = std::to_string(topology.machine.threads);
    for (const char* precision : {"fp64", "fp32"}) {
        for (const char* word : {"1/32", "1", "16"}) {
            const auto at = point(
                {{"intensity", word}, {"precision", precision}, {"threads", threads}, {"working_set", "1000000"}});
            const auto subject = bench->make(at, topology.machine, topology.machine.devices.front());
            launch_and_check(*subject);
            const Work work = subject->work();
            CHECK(work.flops / work.compulsory == Intensity{parse_intensity(word)});
            CHECK(work.compulsory == work.no_reuse);
            CHECK_FALSE(subject->variant().empty());
        }
    }
}

TEST_CASE("without vector multiply-adds the bench is unsupported, and unknown intensities are an error")
{
    const Machine machine = small_machine();
    const auto bench = ert_bench(context({{0, 1}, {0, 1}}));
    const auto at = [&](const char* word) {
        return bench->unsupported_reason(
            point({{"intensity", word}, {"precision", "fp64"}, {"threads", "1"}, {"working_set", "65536"}}), machine,
            machine.devices.front());
    };
    CHECK_THAT(at("1").value_or(""), Contains("multiply-add"));
    CHECK_THROWS_AS(at("3"), InputError);
}

TEST_CASE("the default sets of ert ascend to one in memory")
{
    const std::vector<Axis> axes = ert_bench(context({{0}, {0}}))->axes(small_machine());
    const std::vector<std::string>& sets = axis(axes, "working_set").defaults;
    CHECK(sets.front() == "16384");
    CHECK(sets.back() == std::to_string(256 << 20));
    CHECK(sets.size() == 4);
    CHECK(axis(axes, "intensity").defaults.size() == 10);
}
