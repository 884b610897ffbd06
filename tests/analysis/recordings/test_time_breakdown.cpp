// The entries of a time breakdown add up to the wall time, for timelines by hand and random ones.
#include "analysis/recordings/time_breakdown.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <random>
#include <stdexcept>

using namespace roof;
using namespace roof::analysis;

namespace {

Interval ran(Activity activity, double start, double end)
{
    return {{start}, {end}, activity};
}

TimeBreakdown close(std::vector<Interval> intervals, double begin, double end)
{
    const std::array<Window, 1> window{Window{{begin}, {end}}};
    return finish_breakdowns(std::move(intervals), window).front();
}

/// The sum of the entries that the wall time divides into.
Seconds entered(const TimeBreakdown& b)
{
    return b.kernels + b.unclassified + b.collectives + b.copies + b.idle;
}

/// The same by brute force for integer times: every unit of time is examined.
TimeBreakdown count_instants(const std::vector<Interval>& intervals, int begin, int end)
{
    TimeBreakdown time_breakdown;
    time_breakdown.wall = {static_cast<double>(end - begin)};
    for (int t = begin; t < end; ++t) {
        std::array<int, 4> at_work{};
        for (const Interval& i : intervals)
            if (i.start.value <= t && t + 1 <= i.end.value) ++at_work[static_cast<std::size_t>(i.activity)];
        const auto [kernel, unknown, collective, copy] = at_work;
        const bool computes = kernel + unknown > 0;
        time_breakdown.computing.value += computes;
        time_breakdown.kernel_time.value += kernel + unknown;
        time_breakdown.hidden_collectives.value += computes && collective > 0;
        time_breakdown.hidden_copies.value += copy > 0 && (computes || collective > 0);
        (kernel > 0       ? time_breakdown.kernels
         : unknown > 0    ? time_breakdown.unclassified
         : collective > 0 ? time_breakdown.collectives
         : copy > 0       ? time_breakdown.copies
                          : time_breakdown.idle)
            .value += 1;
    }
    return time_breakdown;
}

}  // namespace

TEST_CASE("every instant of a step counts once, and overlap counts as hidden")
{
    const TimeBreakdown time_breakdown =
        close({ran(Activity::kernel, 1, 4), ran(Activity::kernel, 3, 5), ran(Activity::copy, 4, 7),
               ran(Activity::collective, 6, 8), ran(Activity::unclassified, 9, 10)},
              0, 12);
    CHECK(time_breakdown.kernels == Seconds{4});
    CHECK(time_breakdown.unclassified == Seconds{1});
    CHECK(time_breakdown.collectives == Seconds{2});
    CHECK(time_breakdown.copies == Seconds{1});
    CHECK(time_breakdown.idle == Seconds{4});
    CHECK(time_breakdown.hidden_copies == Seconds{2});
    CHECK(time_breakdown.hidden_collectives == Seconds{0});
    CHECK(entered(time_breakdown) == time_breakdown.wall);
    CHECK(time_breakdown.concurrency() == Approx(6.0 / 5));
    CHECK(time_breakdown.kernel_count == 3);
}

TEST_CASE("an activity across the end of a step counts only within the step")
{
    const std::vector<Interval> intervals{ran(Activity::kernel, 0, 10), ran(Activity::copy, 11, 12)};
    CHECK(close(intervals, 4, 6).kernels == Seconds{2});
    CHECK(close(intervals, 8, 14).idle == Seconds{3});
    CHECK(close(intervals, 20, 21).idle == Seconds{1});
    CHECK(close({}, 0, 1).idle == Seconds{1});
}

TEST_CASE("the entries of random timelines add up to the wall time and agree with a count of instants")
{
    std::mt19937 random(20260101);
    const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    for (int round = 0; round < 300; ++round) {
        std::vector<Interval> intervals;
        for (int i = up_to(40); i > 0; --i) {
            const int start = up_to(100);
            intervals.push_back(ran(static_cast<Activity>(up_to(3)), start, start + up_to(20)));
        }
        const int begin = up_to(60), end = begin + up_to(60);
        const TimeBreakdown time_breakdown = close(intervals, begin, end),
                            expected = count_instants(intervals, begin, end);
        CHECK(entered(time_breakdown).value == Approx(end - begin).margin(1e-9));
        for (const auto entry : {&TimeBreakdown::kernels, &TimeBreakdown::unclassified, &TimeBreakdown::collectives,
                                 &TimeBreakdown::copies, &TimeBreakdown::idle, &TimeBreakdown::hidden_collectives,
                                 &TimeBreakdown::hidden_copies, &TimeBreakdown::computing, &TimeBreakdown::kernel_time})
            CHECK((time_breakdown.*entry).value == Approx((expected.*entry).value).margin(1e-9));
    }
}

TEST_CASE("an interval that ends before it begins is refused")
{
    CHECK_THROWS_AS(close({ran(Activity::kernel, 2, 1)}, 0, 1), std::invalid_argument);
    CHECK_THROWS_AS(close({}, 1, 0), std::invalid_argument);
}

TEST_CASE("the time breakdown of a folder is the mean over its steps, on each device")
{
    const fakes::TemporaryFolder folder;
    const auto kernel = [](const std::string& device, const std::string& name, double start, double seconds) {
        KernelRecord record;
        record.cause.device = device;
        record.name = name;
        if (start >= 0) record.start = Seconds{start};
        record.duration = {seconds};
        return record;
    };
    append_records<KernelRecord>(folder.path(), "row",
                                 std::vector{kernel("gpu:0", "sgemm", 0, 0.5), kernel("gpu:0", "sgemm", 1, 0.25),
                                             kernel("gpu:1", "mystery", 0, 1), kernel("gpu:1", "sgemm", -1, 1),
                                             kernel("gpu:1", "ncclDevKernel_AllReduce_Sum", 1, 1)});
    append_records<RangeRecord>(folder.path(), "row",
                                std::vector{RangeRecord{{}, RangeKind::step, "0", Seconds{0}, Seconds{1}},
                                            RangeRecord{{}, RangeKind::layer, "x", Seconds{0}, Seconds{9}},
                                            RangeRecord{{}, RangeKind::step, "1", Seconds{1}, Seconds{1}}});
    const std::vector<DeviceTimeBreakdown> all =
        read_kernels(folder.path(), built_in_kernel_rules(), {}).time_breakdown;
    REQUIRE(all.size() == 2);
    CHECK(all[0].steps == 2);
    CHECK(all[0].mean.kernels.value == Approx(0.375));
    CHECK(all[0].mean.idle.value == Approx(0.625));
    CHECK(all[1].mean.unclassified.value == Approx(0.5));
    CHECK(all[1].mean.collectives.value == Approx(0.5));
    CHECK(all[1].unplaced == 1);
}
