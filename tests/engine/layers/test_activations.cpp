// The activations' values beside their definitions in double, and their slopes beside differences of these.
#include "tests/engine/layers/defined_activations.hpp"
#include "workloads/engine/activations.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::engine;

TEST_CASE("Activations have the values and slopes of their definitions")
{
    for (const auto& [kind, forward_flops, backward_flops] : model::activations) {
        INFO(name(kind));
        with_activation(kind, [&, wanted = kind]<LayerKind of>() {
            REQUIRE(of == wanted);
            // No place where two pieces meet: -3, 0, 3 and 6.
            for (double x = -19.97; x < 20; x += 0.13) {
                INFO(x);
                CHECK(activated<of>(static_cast<float>(x)) ==
                      Approx(defined_activation(of, x).value).epsilon(1e-5).margin(1e-6));
                const double slope =
                    (defined_activation(of, x + 1e-4).value - defined_activation(of, x - 1e-4).value) / 2e-4;
                CHECK(activation_slope<of>(static_cast<float>(x)) == Approx(slope).epsilon(1e-4).margin(1e-5));
            }
        });
    }
    CHECK(activated<LayerKind::sigmoid>(-200) == Approx(0).margin(1e-30));
    CHECK(activated<LayerKind::sigmoid>(200) == 1);
}
