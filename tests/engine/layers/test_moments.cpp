// Batch norms by moments in the step's program, run by loops on the host: beside passes, and beside fp32.
#include "tests/engine/layers/distance.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "workloads/engine/passes/passes.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace roof;
using namespace roof::ir;

namespace {

constexpr int batch = 3;

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
    for (std::size_t i = 0; i < passes.list().running.size(); ++i) {
        const auto numbers = [i](const HostTraining& of) { return of.numbers(of.list().running[i].variance); };
        CHECK(distance(numbers(moments), numbers(passes)) < tolerance);
    }
    std::vector<std::string> found;
    for (const Program::Stage& stage : moments.list().stages()) {
        for (const auto& operation : stage.operations)
            if (std::holds_alternative<MomentGradient>(operation)) found.push_back(stage.part.layer);
    }
    CHECK(found == std::vector<std::string>{"d.conv3+d.conv3.bn", "c.conv3+c.conv3.bn", "b.conv3+b.conv3.bn",
                                            "a.shortcut+a.shortcut.bn", "a.conv3+a.conv3.bn"});
}

TEST_CASE("Moments serve narrow values and are left out where the source is scaled or in fp32")
{
    const auto is_by_moments = [](const StepProgram& list) {
        return std::ranges::any_of(list.stages(), [](const Program::Stage& stage) {
            return std::ranges::any_of(
                stage.operations, [](const auto& operation) { return std::holds_alternative<Covariance>(operation); });
        });
    };
    const model::Graph graph = bottleneck_network();
    for (const Precision precision : {Precision::fp32, Precision::tf32})
        CHECK_FALSE(is_by_moments(write_step(graph, hashed(precision), loops_of_moments())));
    CHECK(is_by_moments(write_step(graph, hashed(Precision::bf16), loops_of_moments())));
    Choosers all = loops(true);
    all.moments = [](const ConvolutionPass& forward) { return forward.source.channels == 16; };
    HostTraining scaled(graph, hashed(Precision::bf16), all);
    HostTraining passes(graph, hashed(Precision::bf16), false);
    CHECK(scaled.differentiate() == Approx(passes.differentiate()).margin(0.05));
    const model::Graph resnet = model::build_model("resnet50");
    const Settings settings{.batch = 32, .precision = Precision::bf16};
    CHECK(static_cast<double>(write_step(resnet, settings, loops_of_moments()).bytes) <
          0.9 * static_cast<double>(write_step(resnet, settings, loops(false)).bytes));
}

TEST_CASE("No operation reads a gradient that other ranks may have changed")
{
    for (const bool by_moments : {false, true}) {
        const StepProgram list = write_step(model::build_model("resnet50"), {.batch = 2, .precision = Precision::bf16},
                                            by_moments ? loops_of_moments() : loops(false));
        std::set<std::size_t> complete;
        int read = 0;
        const auto check = [&](const Tensor& gradient) {
            CHECK_FALSE(complete.contains(gradient.begin));
            ++read;
        };
        for (const Program::Stage& stage : list.stages()) {
            for (const auto& operation : stage.operations) {
                if (const auto* const one = std::get_if<NormGradient>(&operation)) {
                    for (const Tensor& sum : {one->sum, one->sum_of_products}) check(sum);
                    if (one->other_norm.sum)
                        for (const Tensor& sum : {one->other_norm.sum, one->other_norm.sum_of_products}) check(sum);
                }
                if (const auto* const one = std::get_if<MomentGradient>(&operation)) check(one->sum);
            }
            for (const std::size_t parameter : stage.ready)
                complete.insert(list.parameters.all()[parameter].gradient.begin);
        }
        CHECK(read == (by_moments ? 2 * 36 + 17 : 2 * 53));
        CHECK(complete.size() == list.parameters.all().size());
    }
}

TEST_CASE("Statistics from moments are as precise as fp32, also where the mean is large")
{
    const auto [precision, origin] =
        GENERATE(table<Precision, float>({{Precision::bf16, 0.0F}, {Precision::fp16, 0.0F}, {Precision::bf16, 8.0F}}));
    INFO(traits(precision).name << " from " << origin);
    constexpr std::size_t inputs = 24;
    constexpr std::size_t outputs = 48;
    Program program;
    const Tensor numbers{.batch = 1, .channels = outputs};
    const auto channel = [&] { return program.resident(numbers); };
    const Tensor read =
        program.resident({.batch = 7, .channels = inputs, .height = 9, .width = 5, .precision = precision});
    const Tensor by = program.resident({.batch = 1, .channels = inputs * outputs, .precision = precision});
    const Statistics norm{.weight = channel(),
                          .bias = channel(),
                          .channels = {channel(), channel(), channel(), channel()},
                          .running_mean = channel(),
                          .running_variance = channel()};
    List list(program);
    list.begin("", "", Phase::forward);
    append_statistics(list, read, by, norm);
    lower(list, {}, loops_of_moments());
    constexpr std::size_t alignment = 256;
    std::vector<std::byte> bytes(program.place() + alignment);
    const std::size_t ahead = alignment - reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment;
    const Memory memory(program, bytes.data() + ahead);
    Values source(memory, read);
    Values weights(memory, by);
    const auto random = [](std::size_t k) {
        return static_cast<float>(model::mix(static_cast<std::uint32_t>(k))) * 0x1p-32F;
    };
    for (std::size_t k = 0; k < read.elements(); ++k) source.put(k, origin + random(k));
    for (std::size_t k = 0; k < by.elements(); ++k) weights.put(k, random(k + 77777) - 0.5F);
    run_on_host(program.stages().front(), memory);
    const auto rows = static_cast<double>(read.rows());
    std::vector<float> due_mean;
    std::vector<float> due_inverse;
    std::vector<float> mean;
    std::vector<float> inverse;
    for (std::size_t c = 0; c < outputs; ++c) {
        double first = 0;
        double second = 0;
        for (std::size_t n = 0; n < read.rows(); ++n) {
            double y = 0;
            for (std::size_t k = 0; k < inputs; ++k)
                y += static_cast<double>(source[n * inputs + k]) * weights[c * inputs + k];
            first += y / rows;
            second += y * y / rows;
        }
        due_mean.push_back(static_cast<float>(first));
        due_inverse.push_back(static_cast<float>(1 / std::sqrt(second - first * first + engine::batch_norm_epsilon)));
        mean.push_back(Values(memory, norm.channels.mean)[c]);
        inverse.push_back(Values(memory, norm.channels.inverse_deviation)[c]);
    }
    CHECK(distance(mean, due_mean) < 1e-6);
    CHECK(distance(inverse, due_inverse) < 1e-5);
}
