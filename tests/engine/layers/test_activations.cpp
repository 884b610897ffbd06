// The activations' values beside their definitions in double, and their slopes beside differences of these.
#include "workloads/engine/activations.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using namespace roof::engine;

namespace {

double defined(LayerKind kind, double x)
{
    const double sigmoid = 1 / (1 + std::exp(-x));
    const double hard = std::clamp(x + 3, 0.0, 6.0) / 6;
    switch (kind) {
        case LayerKind::relu6:
            return std::clamp(x, 0.0, 6.0);
        case LayerKind::sigmoid:
            return sigmoid;
        case LayerKind::silu:
            return x * sigmoid;
        case LayerKind::hard_sigmoid:
            return hard;
        default:
            return x * hard;
    }
}

}  // namespace

TEST_CASE("Activations have the values and slopes of their definitions")
{
    for (const LayerKind kind :
         {LayerKind::relu6, LayerKind::sigmoid, LayerKind::silu, LayerKind::hard_sigmoid, LayerKind::hard_swish}) {
        INFO(model::name(kind));
        with_activation(kind, [&]<LayerKind of>() {
            REQUIRE(of == kind);
            // No place where two pieces meet: -3, 0, 3 and 6.
            for (double x = -19.97; x < 20; x += 0.13) {
                INFO(x);
                CHECK(activated<of>(static_cast<float>(x)) == Approx(defined(kind, x)).epsilon(1e-5).margin(1e-6));
                const double slope = (defined(kind, x + 1e-4) - defined(kind, x - 1e-4)) / 2e-4;
                CHECK(activation_slope<of>(static_cast<float>(x)) == Approx(slope).epsilon(1e-4).margin(1e-5));
            }
        });
    }
    CHECK(activated<LayerKind::sigmoid>(-200) == Approx(0).margin(1e-30));
    CHECK(activated<LayerKind::sigmoid>(200) == 1);
}
