#include "analysis/report/figure.hpp"
#include "analysis/report/report.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"
#include "workloads/model/graph.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

using namespace roof;
using namespace roof::analysis;

namespace {

void check_fits(const std::string& text, std::size_t columns)
{
    for (const std::string& line : split(text, '\n')) {
        INFO(line);
        CHECK(display_columns(line) <= columns);
    }
}

/// The drawing without the legend.
std::string drawing(const std::string& text)
{
    return text.substr(0, text.find("arithmetic intensity"));
}

/// Three batches on two thread counts, with long names.
Study long_names()
{
    std::vector<Measurement> rows;
    for (const int batch : {4, 8, 64})
        for (const int threads : {1, 2}) {
            Measurement row = made::row("a_network_with_a_name_that_goes_on_and_on", batch, threads);
            row.seconds = made::about<Seconds>(0.01 * batch / threads);
            for (PartMeasurement& part : row.parts)
                part.part.layer = "features.stage3.block11.downsample.convolution_of_many";
            row.remarks = "a remark that says much more about this row than any line of eighty columns could ever hold";
            rows.push_back(row);
        }
    rows.push_back(
        made::failed("a_network_with_a_name_that_goes_on_and_on", "wants 14 GB of memory, available are 8 GB"));
    return made::study(rows);
}

}  // namespace

TEST_CASE("the frame contains every ridge point and depends on the ceilings alone")
{
    const std::optional<Frame> frame = frame_of(made::ceilings());
    REQUIRE(frame);
    CHECK(frame->intensity.low == Approx(0.01));   // fp64 under L1: 0.125
    CHECK(frame->intensity.high == Approx(1000));  // fp32 under DRAM: 10
    CHECK(frame->rate.low == Approx(1e9));         // the DRAM roof at 0.1
    CHECK(frame->rate.high == Approx(1e12));
    CHECK_FALSE(frame_of({}));
}

TEST_CASE("a slower precision widens the frame downwards, a slower level to the right")
{
    Ceilings more = made::ceilings();
    more.all.push_back(made::compute("int8", 2, 1e9));  // ridge under L1: 0.0025
    CHECK(frame_of(more)->intensity.low == Approx(1e-4));
    more.all.push_back(made::bandwidth("link", 2, 1e8));  // ridge under fp32: 1000
    CHECK(frame_of(more)->intensity.high == Approx(1e5));
}

TEST_CASE("two runs on one machine have the same axes")
{
    Measurement fast = made::row();
    for (PartMeasurement& part : fast.parts) part.seconds = made::about<Seconds>(1e-5);
    fast.seconds = made::about<Seconds>(1e-4);
    const auto axis = [](const std::string& text) {
        const std::vector<std::string> lines = split(text, '\n');
        return *std::find_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return line.find("0.01") != std::string::npos; });
    };
    CHECK(axis(terminal_roofline(made::study({fast}), 80, true)) ==
          axis(terminal_roofline(made::study({made::row()}), 80, true)));
}

TEST_CASE("the numbers on the axis of intensities do not run together")
{
    Study study = made::study({made::row()});
    study.ceilings.all.push_back(made::compute("int8", 2, 1e9));
    study.ceilings.all.push_back(made::bandwidth("link", 2, 1e8));
    const std::vector<std::string> lines = split(terminal_roofline(study, 80, true), '\n');
    const auto axis =
        std::ranges::find_if(lines, [](const std::string& line) { return line.find("0.0001") != std::string::npos; });
    REQUIRE(axis != lines.end());
    std::istringstream numbers(*axis);
    for (std::string number; numbers >> number;) {
        CAPTURE(number);
        CHECK(std::log10(std::stod(number)) == Approx(std::round(std::log10(std::stod(number)))));
    }
}

TEST_CASE("the plain drawing is ASCII and no wider than asked for")
{
    const std::string text = drawing(terminal_roofline(made::study({made::row()}), 72, true));
    CHECK(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; }));
    check_fits(text, 72);
}

TEST_CASE("the braille drawing is no wider than asked for")
{
    const std::string text = drawing(terminal_roofline(made::study({made::row()}), 100, false));
    CHECK(text.find("\xE2\xA0") != std::string::npos);
    check_fits(text, 100);
}

TEST_CASE("every roof is named and every step has a letter with a legend")
{
    const std::string text = terminal_roofline(made::study({made::row("net", 8), made::row("net", 16)}), 100, true);
    for (const char* name : {"L1 load", "L2 load", "DRAM load", "fp32", "fp64"})
        CHECK(drawing(text).find(name) != std::string::npos);
    CHECK(text.find("  A net b8: ") != std::string::npos);
    CHECK(text.find("  B net b16: ") != std::string::npos);
    CHECK(text.find("not drawn, behind another letter: B") != std::string::npos);
    CHECK(text.find("DRAM load 10.0 GB/s") != std::string::npos);
}

TEST_CASE("the roofs are those over the steps that are drawn")
{
    const auto text = [](const std::vector<Measurement>& rows) {
        return terminal_roofline(made::study(rows), 100, true);
    };
    const std::string one = text({made::row("net", 8, 1)}),
                      both = text({made::row("net", 8, 1), made::row("net", 8, 2)});
    CHECK(one.find("roofs (measured, 1 thread)") != std::string::npos);
    CHECK(one.find("DRAM load 5.00 GB/s") != std::string::npos);
    CHECK(both.find("DRAM load 10.0 GB/s") != std::string::npos);
    CHECK(one.find("Points with other threads") == std::string::npos);
    CHECK(both.find("Points with other threads were placed under the roofs of those") != std::string::npos);
}

TEST_CASE("the list of roofs marks those that are lower bounds")
{
    Study study = made::study({made::row()});
    for (Ceiling& ceiling : study.ceilings.all)
        if (ceiling.level == "L1") ceiling.steadiness = Steadiness::at_least;
    const std::string text = terminal_roofline(study, 100, false);
    CHECK(text.find("L1 load ≥ 400 GB/s") != std::string::npos);
    CHECK(text.find("L2 load 100 GB/s") != std::string::npos);
    CHECK(terminal_roofline(study, 100, true).find("L1 load >= 400 GB/s") != std::string::npos);
}

TEST_CASE("the output of report and sweep fits a terminal of eighty columns")
{
    const Study study = long_names();
    for (const bool plain : {true, false}) {
        check_fits(terminal_roofline(study, 80, plain), 80);
        check_fits(terminal_batches(study, 80, plain), 80);
        check_fits(terminal_layers(study, 80, plain), 80);
    }
    check_fits(verdict_text(study, 80), 80);
    check_fits(headroom_text(study, 5, 80), 80);
    check_fits(fitted_lines(join(summary({&study, 1}), "\n"), 80), 80);
    CHECK(verdict_text(study).size() > verdict_text(study, 80).size());
}

TEST_CASE("the batches of a model are a chart with a letter for each series, and one batch has no chart")
{
    const std::string text = terminal_batches(long_names(), 80, true);
    CHECK(text.find("images/s of the median") != std::string::npos);
    CHECK(text.find("A a_network_with_a_name_that_goes_on_and_on fp32 cpu, 1 thread") != std::string::npos);
    CHECK(text.find("B a_network_with_a_name_that_goes_on_and_on fp32 cpu, 2 threads") != std::string::npos);
    const std::size_t begin = text.find('|');
    CHECK(std::ranges::count(text.substr(begin, text.find("A a_network") - begin), 'B') ==
          3);  // 200 images/s at each of three batches
    CHECK(std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; }));
    CHECK(terminal_batches(made::study({made::row()}), 80, true).empty());
}

TEST_CASE("the time of a step is shown by kind of layer and phase, time outside the layers last")
{
    const std::string text = terminal_layers(made::study({made::row()}), 80, true);
    const std::vector<std::string> lines = split(text, '\n');
    REQUIRE(lines.size() == 7);  // title, header, two kinds, the update, the rest, the end
    CHECK(lines[2].starts_with("convolution         32.5 ms  12.5 ms   20.0 ms      81%  ################"));
    CHECK(lines[3].starts_with("update              4.00 ms"));
    CHECK(lines[5].starts_with("outside the layers"));
    CHECK(terminal_layers(made::study({}), 80, true).empty());
}

TEST_CASE("the time of a step names every kind of layer that a network can have, and the loss")
{
    const auto named = [](const std::string& kind) {
        Measurement row = made::row();
        row.parts = {made::part("one", kind, Phase::forward, 0.010, 1e6, 1e6, 1e6)};
        return kinds_of(row).front().name;
    };
    for (const auto& [kind, kind_name] : names_of(model::LayerKind{}).rows)
        if (kind != model::LayerKind::input) CHECK(named(std::string(kind_name)) == kind_name);
    CHECK(named("softmax_cross_entropy") == "loss");
    CHECK(named("of another program") == "other");
}

TEST_CASE("the parts of a step add up to it, by phase and by kind, or to more if the layers took longer than the step")
{
    Measurement slow_layers = made::row("net", 16);
    slow_layers.parts[0].seconds = made::about<Seconds>(0.030);
    const Study study = made::study({made::row(), slow_layers});
    for (const Measurement& row : study.results.rows) {
        const double layers = &row == &study.results.rows[1] ? 0.055 : 0.040;
        std::map<std::string, double> sums;
        const DataTable table = breakdown_table(study);
        for (std::size_t i = 0; i < table.rows.size(); ++i)
            if (std::get<std::string>(table.cell(i, "row").value) == row.id())
                sums[std::get<std::string>(table.cell(i, "by").value)] +=
                    std::get<double>(table.cell(i, "time_s").value);
        CHECK(sums["phase"] == Approx(0.040));
        CHECK(sums["kind"] == Approx(layers));
        double kinds = 0;
        for (const Segment& kind : kinds_of(row)) {
            kinds += kind.seconds;
            CHECK((kind.forward + kind.backward == Approx(kind.seconds) || kind.forward + kind.backward == 0));
        }
        CHECK(kinds == Approx(layers));
        const StepTimes times = step_times(study.placements, row);
        CHECK(times.layers + times.outside() == Approx(layers));
        CHECK(times.compute + times.bandwidth + times.unexplained == Approx(times.layers));
    }
    CHECK_THAT(terminal_layers(study, 80, true),
               Catch::Contains("timed apart, took 15.0 ms longer") && !Catch::Contains("outside the layers"));
}

TEST_CASE("a very narrow terminal gets the narrowest drawing")
{
    CHECK(terminal_roofline(made::study({made::row()}), 1, true) ==
          terminal_roofline(made::study({made::row()}), 40, true));
}

TEST_CASE("without a ceiling of each kind the drawing is replaced by the reason, and without any it is empty")
{
    CHECK(terminal_roofline(made::study({made::row()}, {}), 80, true).empty());  // the verdict says why
    Ceilings only_compute;
    only_compute.all = {made::compute("fp32", 2, 1e11)};
    CHECK(terminal_roofline(made::study({made::row()}, only_compute), 80, true).find("one is missing") !=
          std::string::npos);
}

TEST_CASE("the times of an emulated device are called emulated, never measured")
{
    Ceilings ceilings = made::ceilings();
    for (Ceiling& one : ceilings.all) one.known = Known::emulated;
    Measurement row = made::row();
    row.time_known = Known::emulated;
    const Study study = made::study({row}, ceilings);
    for (const std::string& text : {terminal_roofline(study, 80, true), verdict_text(study),
                                    terminal_layers(study, 80, true), made::panel("roofline", study)}) {
        CHECK_THAT(text, Catch::Contains("emulated"));
        CHECK_THAT(text, !Catch::Contains("measured"));
    }
}

TEST_CASE("a static roofline draws the interval of the bytes for steps alone: those of layers would cover the roofs")
{
    const std::string html = made::panel("roofline", made::study({made::row()}));
    const std::size_t step = html.find("class=\"mark step");
    CHECK(html.find("class=\"interval\"") > step);
    CHECK(html.find("class=\"interval\"", html.find("</g>", step)) == std::string::npos);
}
