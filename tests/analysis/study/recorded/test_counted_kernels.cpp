// Counted kernels on round roofs: L2 100 GB/s, DRAM 10 GB/s, fp32 100 GFLOP/s.
#include "analysis/report/report.hpp"
#include "analysis/study/recorded/counted_kernels.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "made.hpp"
#include "recordings.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

CounterRecord counter(const std::string& kernel, std::uint64_t launch, const std::string& metric, double value,
                      const std::string& unit)
{
    return {"cpu", CounterScope::kernel, {}, {}, kernel, launch, metric, value, unit};
}

/// A launch with this many multiply-adds and bytes.
std::vector<CounterRecord> launch(const std::string& kernel, std::uint64_t number, double fmas, double memory,
                                  double l2)
{
    const std::string stem = "smsp__sass_thread_inst_executed_op_";
    return {counter(kernel, number, stem + "fadd_pred_on.sum", 0, "inst"),
            counter(kernel, number, stem + "fmul_pred_on.sum", 0, "inst"),
            counter(kernel, number, stem + "ffma_pred_on.sum", fmas, "inst"),
            counter(kernel, number, "dram__bytes.sum", memory, "byte"),
            counter(kernel, number, "lts__t_bytes.sum", l2, "byte")};
}

struct Bed {
    fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    std::string id = study.results.rows.front().id();

    Bed() { study.results.folder = folder.path(); }
    void count(const std::vector<CounterRecord>& records) { append_records<CounterRecord>(folder.path(), id, records); }
    void time(const std::string& kernel, double seconds)
    {
        KernelRecord record = made::kernel(kernel, 0, seconds);
        record.cause.device = "cpu";
        append_records<KernelRecord>(folder.path(), id, {&record, 1});
    }
};

}  // namespace

TEST_CASE("a counted kernel is placed at each counted level, and the lowest roof binds")
{
    Bed bed;
    bed.time("sgemm", 0.02);
    bed.time("sgemm", 0.02);
    bed.count(launch("sgemm", 0, 5e8, 1e7, 1e8));
    bed.count(launch("sgemm", 1, 5e8, 1e7, 1e8));
    const std::vector<CountedKernel> kernels = counted_kernels(bed.study);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].category == "GEMM");
    CHECK(kernels[0].launches == 2);
    CHECK(kernels[0].work.total().value == Approx(2e9));
    REQUIRE(kernels[0].levels.size() == 2);
    CHECK(kernels[0].levels[0].level == "L2");
    CHECK(kernels[0].levels[1].intensity_low.value == Approx(100));
    CHECK(kernels[0].levels[1].known == Known::counter);
    CHECK(kernels[0].binds == "fp32");
    CHECK(kernels[0].attainable.value == Approx(0.02));
    CHECK(kernels[0].fraction() == Approx(0.5));
}

TEST_CASE("counters of some launches represent all, and a metric that some of them lack is left out")
{
    Bed bed;
    for (int i = 0; i < 4; ++i) bed.time("stream", 0.01);
    bed.count(launch("stream", 0, 0, 1e7, 3e7));
    bed.count({counter("stream", 2, "dram__bytes.sum", 3e7, "byte")});
    const std::vector<CountedKernel> kernels = counted_kernels(bed.study);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].launches == 4);
    CHECK(kernels[0].counted == 2);
    REQUIRE(kernels[0].levels.size() == 1);
    CHECK(kernels[0].levels[0].low.value == Approx(8e7));
    CHECK(kernels[0].binds == "DRAM");
    CHECK(kernels[0].attainable.value == Approx(8e-3));
    CHECK(kernels[0].work.flops.empty());
}

TEST_CASE("a function of a program is placed by its time by samples, its number formats and simulated bytes")
{
    Bed bed;
    const auto of = [](const char* metric, double value, const char* unit) {
        return counter("gemm [libx.so]", 0, metric, value, unit);
    };
    bed.count({of("FLOPs of fp32 by FMA, 256 bits", 1.5e9, "FLOP"), of("FLOPs of fp32 by SSE, one number", 5e8, "FLOP"),
               of("lines into L1", 1e9, "byte"), of("read from memory", 3e8, "byte"),
               of("written to memory", 1e8, "byte"), of("instructions under valgrind", 1e9, "inst"),
               of("time by samples", 0.08, "s")});
    bed.count({counter("never sampled", 0, "FLOPs of fp32 by AVX, 256 bits", 8, "FLOP"),
               counter("never sampled", 0, "instructions under valgrind", 1, "inst")});
    const std::vector<CountedKernel> kernels = counted_kernels(bed.study);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].is_function());
    CHECK(kernels[0].work.flops.at("fp32") == Flops{2e9});
    CHECK(kernels[0].most_flops == "fp32 by FMA, 256 bits");
    REQUIRE(kernels[0].levels.size() == 2);
    CHECK(kernels[0].levels[1].level == "DRAM");
    CHECK(kernels[0].levels[1].low.value == Approx(4e8));
    CHECK(kernels[0].levels[1].known == Known::simulated);
    CHECK(kernels[0].binds == "DRAM");  // 40 ms; fp32 20 ms, L2 10 ms
    CHECK(kernels[0].fraction() == Approx(0.5));
    CHECK_THAT(recording_text(bed.study, 0), Catch::Contains("Functions under the roofs (work simulated") &&
                                                 Catch::Contains("fp32 by FMA, 256 bits") &&
                                                 !Catch::Contains("launches"));
    CHECK_THAT(made::panel("counted", bed.study), Catch::Contains("Functions under the roofs of cpu"));
    const std::string picture = terminal_roofline(bed.study, 80, true);
    CHECK_THAT(picture, Catch::Contains("gemm [libx.so]: 2.00 GFLOP in 80.0 ms, 50% of the roof of DRAM"));
}

TEST_CASE("the panel and the table show counted kernels, without those that have no time")
{
    Bed bed;
    CHECK(made::panel("counted", bed.study).empty());
    bed.time("sgemm<a>", 0.02);
    bed.count(launch("sgemm<a>", 0, 5e8, 1e7, 1e8));
    bed.count(launch("untimed", 1, 5e8, 1e7, 1e8));
    const std::string html = made::panel("counted", bed.study);
    CHECK_THAT(html, Catch::Contains("sgemm&lt;a&gt;") && Catch::Contains("<svg") && !Catch::Contains("untimed"));
    CHECK_THAT(recording_text(bed.study, 0), Catch::Contains("100") && Catch::Contains("50.0 GFLOP/s"));
}

TEST_CASE("a row of counted or simulated work is placed only at the farthest level")
{
    for (const Known known : {Known::counter, Known::simulated}) {
        Measurement row = made::row();
        row.parts.clear();
        row.work = {{4e9}, {2e8}, {2e8}, known};
        const std::vector<Placement> placements = place(row, made::ceilings(), made::machine());
        REQUIRE(placements.front().levels.size() == 1);
        CHECK(placements.front().levels[0].level == "DRAM");
        CHECK(placements.front().levels[0].known == known);
        CHECK(placements.front().attainable.value == Approx(0.04));
        const std::string text = verdict_text(made::study({row}), 1000);
        CHECK((text.find("simulated: under valgrind") != std::string::npos) == (known == Known::simulated));
    }
}

TEST_CASE("a kernel that was counted but not traced has its time by counter and its category by name")
{
    Bed bed;
    std::vector<CounterRecord> counted = launch("sgemm", 0, 5e8, 1e7, 1e8);
    counted.push_back(counter("sgemm", 0, "gpu__time_duration.sum", 0.02, "s"));
    bed.count(counted);
    const std::vector<CountedKernel> kernels = counted_kernels(bed.study);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].seconds == Seconds{0.02});
    CHECK(kernels[0].time_known == Known::counter);
    CHECK(kernels[0].category == "GEMM");
    CHECK(counted_kernels_table(bed.study).cell(0, "time").text == "20.0 ms (counter)");
    bed.time("sgemm", 0.03);
    bed.study.recording = {};  // recordings that were read are cached
    CHECK(counted_kernels(bed.study).at(0).time_known == Known::measured);
}

TEST_CASE("a phase has its own counts, or the sum over its kernels")
{
    Bed bed;
    std::vector<CounterRecord> kernels = launch("first", 0, 5e8, 1e7, 1e8);
    for (const CounterRecord& record : launch("second", 1, 5e8, 3e7, 1e8)) kernels.push_back(record);
    for (CounterRecord& record : kernels) record.phase = "forward";
    bed.count(kernels);
    std::vector<PhaseCount> phases = phase_counts(bed.study);
    REQUIRE(phases.size() == 1);
    CHECK(phases[0].phase == "forward");
    CHECK(phases[0].kernels == 2);
    CHECK(phases[0].work.flops.at("fp32") == Flops{2e9});
    CHECK(phases[0].work.bytes.at("DRAM") == Bytes{4e7});
    CHECK(phase_counts_table(bed.study).cell(0, "FLOP/B").text == "50.0");
    std::vector<CounterRecord> whole = launch("", 0, 5e8, 1e6, 1e8);
    for (CounterRecord& record : whole) {
        record.scope = CounterScope::phase;
        record.phase = "backward";
    }
    bed.count(whole);
    phases = phase_counts(bed.study);
    REQUIRE(phases.size() == 1);
    CHECK(phases[0].phase == "backward");
    CHECK(phases[0].kernels == 0);
    CHECK(phase_counts_table(bed.study).cell(0, "counted").text == "as a whole");
}

TEST_CASE("kernels without phases give no table of phases")
{
    Bed bed;
    bed.count(launch("sgemm", 0, 5e8, 1e7, 1e8));
    CHECK(phase_counts(bed.study).empty());
}
