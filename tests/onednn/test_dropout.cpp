#include "workloads/onednn/layers/layers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::onednn;

namespace {

constexpr float probability = 0.25F;

/// A network of one dropout layer with all inputs 1.
class Dropping {
  public:
    explicit Dropping(Parameters parameters) : settings_{.batch = 4, .threads = 2, .parameters = parameters}
    {
        graph_.dropout("drop", 0, probability);
        Builder build(graph_, settings_, program_, state_);
        build.outputs.front() = x_ = program_.resident(plain(build.map(0)));
        dropout(build, {.layer = 1});
        y_ = build.outputs.back();
        build.give(1, {dy_ = program_.resident(y_.desc()), true});
        build.tape.back()();
        dx_ = build.gradient(0).tensor;
        program_.place("a test");
        std::fill_n(x_.data(), x_.stored(), 1.0F);
        std::fill_n(dy_.data(), dy_.stored(), 1.0F);
    }

    std::vector<float> forward(std::uint32_t step)
    {
        state_.step = step;
        program_.run(Phase::forward, trace_);
        return {y_.data(), y_.data() + y_.stored()};
    }
    std::vector<float> backward()
    {
        program_.run(Phase::backward, trace_);
        return {dx_.data(), dx_.data() + dx_.stored()};
    }

  private:
    model::Graph graph_{"dropping", {64, 16, 16}};
    Settings settings_;
    StepState state_;
    Program program_{dnnl::engine(dnnl::engine::kind::cpu, 0)};
    Tensor x_, y_, dy_, dx_;
    Clock clock_ = [] { return Seconds{}; };
    Trace trace_{clock_, 2};
};

}  // namespace

TEST_CASE("Dropout zeroes the expected share and keeps the mean")
{
    const std::vector<float> y = Dropping(Parameters::random).forward(0);
    const auto zeroed = static_cast<double>(std::count(y.begin(), y.end(), 0.0F)) / static_cast<double>(y.size());
    double sum = 0;
    for (const float value : y) {
        CHECK((value == 0.0F || value == Approx(1 / (1 - probability))));
        sum += value;
    }
    CHECK(zeroed == Approx(probability).margin(0.01));
    CHECK(sum / static_cast<double>(y.size()) == Approx(1).margin(0.01));
}

TEST_CASE("Dropout repeats its decisions in the backward pass and changes them in the next step")
{
    Dropping dropping(Parameters::random);
    const std::vector<float> first = dropping.forward(0);
    CHECK(dropping.backward() == first);
    CHECK(dropping.forward(1) != first);
    CHECK(dropping.forward(0) == first);
}

TEST_CASE("Dropout is disabled for hashed parameters")
{
    model::Graph graph("dropping", {8, 4, 4});
    graph.dropout("drop", 0, probability);
    const Settings settings{.parameters = Parameters::hashed};
    Program program{dnnl::engine(dnnl::engine::kind::cpu, 0)};
    StepState state;
    Builder build(graph, settings, program, state);
    build.outputs.front() = program.resident(plain(build.map(0)));
    dropout(build, {.layer = 1});
    CHECK(program.parts().empty());
    CHECK(build.outputs[1].block == build.outputs[0].block);
}
