// Batch norms by moments in the step's program, run by loops on the host: beside passes, and beside fp32.
#include "tests/cudnn/host_training.hpp"
#include "tests/cudnn/small_networks.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace roof;
using namespace roof::cudnn;

namespace {

constexpr int batch = 3;

double distance(const std::vector<float>& found, const std::vector<float>& due)
{
    REQUIRE(found.size() == due.size());
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < due.size(); ++i) {
        apart += std::pow(static_cast<double>(found[i]) - due[i], 2);
        length += std::pow(static_cast<double>(due[i]), 2);
    }
    return std::sqrt(apart / length);
}

Settings hashed(Precision precision)
{
    return {.batch = batch, .parameters = engine::Parameters::hashed, .precision = precision};
}

}  // namespace

TEST_CASE("Batch norms from moments of what the convolution before reads give the values of passes over its result")
{
    const Precision precision = GENERATE(Precision::bf16, Precision::fp16);
    const model::Graph graph = bottleneck_network();
    INFO(traits(precision).name);
    HostTraining moments(graph, hashed(precision), loops_of_moments());
    HostTraining passes(graph, hashed(precision), false);
    HostTraining exact(graph, hashed(Precision::fp32), false);
    const double tolerance = precision == Precision::bf16 ? 0.05 : 0.01;
    CHECK(moments.differentiate() == Approx(passes.differentiate()).margin(tolerance));
    exact.differentiate();
    const float scale = moments.state().loss_scale;
    double apart_of_moments = 0;
    double apart_of_passes = 0;
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        INFO(graph.parameters()[k].name);
        CHECK(distance(moments.gradient(k), passes.gradient(k)) < 10 * tolerance);
        const auto unscaled = [&](const HostTraining& of) {
            std::vector<float> all = of.gradient(k);
            for (float& one : all) one /= scale;
            return all;
        };
        apart_of_moments += distance(unscaled(moments), exact.gradient(k));
        apart_of_passes += distance(unscaled(passes), exact.gradient(k));
    }
    CHECK(apart_of_moments < 1.1 * apart_of_passes);
    for (std::size_t i = 0; i < passes.written().running().size(); ++i) {
        const auto numbers = [i](const HostTraining& of) { return of.numbers(of.written().running()[i].variance); };
        CHECK(distance(numbers(moments), numbers(passes)) < tolerance);
    }
    std::vector<std::string> found;
    for (const Program::Stage& stage : moments.written().program().stages()) {
        for (const auto& operation : stage.operations)
            if (std::holds_alternative<MomentGradient>(operation)) found.push_back(stage.part.layer);
    }
    CHECK(found == std::vector<std::string>{"d.conv3+d.conv3.bn", "c.conv3+c.conv3.bn", "b.conv3+b.conv3.bn",
                                            "a.shortcut+a.shortcut.bn", "a.conv3+a.conv3.bn"});
}

TEST_CASE("Moments serve narrow values and are left out where the source is scaled or in fp32")
{
    const auto is_by_moments = [](const Written& written) {
        return std::ranges::any_of(written.program().stages(), [](const Program::Stage& stage) {
            return std::ranges::any_of(
                stage.operations, [](const auto& operation) { return std::holds_alternative<Covariance>(operation); });
        });
    };
    const model::Graph graph = bottleneck_network();
    for (const Precision precision : {Precision::fp32, Precision::tf32})
        CHECK_FALSE(is_by_moments(Written(graph, hashed(precision), loops_of_moments())));
    CHECK(is_by_moments(Written(graph, hashed(Precision::bf16), loops_of_moments())));
    Choosers all = loops(true);
    all.moments = [](const ConvolutionShape& forward) { return forward.source.channels == 16; };
    HostTraining scaled(graph, hashed(Precision::bf16), all);
    HostTraining passes(graph, hashed(Precision::bf16), false);
    CHECK(scaled.differentiate() == Approx(passes.differentiate()).margin(0.05));
    const model::Graph resnet = model::build_model("resnet50");
    const Settings settings{.batch = 32, .precision = Precision::bf16};
    CHECK(static_cast<double>(Written(resnet, settings, loops_of_moments()).bytes()) <
          0.9 * static_cast<double>(Written(resnet, settings, loops(false)).bytes()));
}

TEST_CASE("No operation reads a gradient that other ranks may have changed")
{
    for (const bool by_moments : {false, true}) {
        const Written written(model::build_model("resnet50"), {.batch = 2, .precision = Precision::bf16},
                              by_moments ? loops_of_moments() : loops(false));
        std::set<std::size_t> complete;
        int read = 0;
        const auto check = [&](const Tensor& gradient) {
            CHECK_FALSE(complete.contains(gradient.begin));
            ++read;
        };
        for (const Program::Stage& stage : written.program().stages()) {
            for (const auto& operation : stage.operations) {
                if (const auto* const one = std::get_if<NormGradient>(&operation)) {
                    for (const Tensor& sum : {one->sum, one->sum_of_products}) check(sum);
                    if (one->other_norm.sum)
                        for (const Tensor& sum : {one->other_norm.sum, one->other_norm.sum_of_products}) check(sum);
                }
                if (const auto* const one = std::get_if<MomentGradient>(&operation)) check(one->sum);
            }
            for (const std::size_t parameter : stage.ready)
                complete.insert(written.parameters().all()[parameter].gradient.begin);
        }
        CHECK(read == (by_moments ? 2 * 36 + 17 : 2 * 53));
        CHECK(complete.size() == written.parameters().all().size());
    }
}
