#include "workloads/onednn/operations/binding.hpp"
#include "workloads/onednn/step.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

using namespace roof;
using namespace roof::onednn;

namespace {

constexpr float probability = 0.25F;

/// A dropout of ones, in a program that runs it once forward and once backward.
class Dropping {
  public:
    Dropping()
    {
        const ir::Dropout dropout{.layer = 1, .probability = probability};
        for (const auto& [phase, result] : {std::pair{Phase::forward, y_}, std::pair{Phase::backward, dx_}}) {
            program_.begin("drop", "dropout", phase);
            append_dropout(program_, state_, dropout, ones_, result);
        }
        program_.place("a test");
        std::fill_n(ones_.data(), ones_.stored(), 1.0F);
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
    Program program_{dnnl::engine(dnnl::engine::kind::cpu, 0)};
    StepState state_;
    Tensor ones_ = program_.resident(plain(Dims{4, 64, 16, 16})), y_ = program_.resident(ones_.desc()),
           dx_ = program_.resident(ones_.desc());
    Clock clock_ = [] { return Seconds{}; };
    Trace trace_{clock_, 2};
};

}  // namespace

TEST_CASE("Dropout zeroes the expected share and keeps the mean")
{
    const std::vector<float> y = Dropping().forward(0);
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
    Dropping dropping;
    const std::vector<float> first = dropping.forward(0);
    CHECK(dropping.backward() == first);
    CHECK(dropping.forward(1) != first);
    CHECK(dropping.forward(0) == first);
}

TEST_CASE("Dropout is disabled for hashed parameters")
{
    model::Graph graph("dropping", {8, 4, 4});
    graph.linear("last", graph.flatten("flat", graph.dropout("drop", 0, probability)), 3);
    for (const Parameters parameters : {Parameters::hashed, Parameters::random}) {
        const Network network(graph, {.parameters = parameters});
        const auto parts = network.parts();
        CHECK(std::ranges::count(parts, "dropout", &TimedPart::kind) == (parameters == Parameters::hashed ? 0 : 2));
    }
}
