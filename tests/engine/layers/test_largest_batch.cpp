// The error for a batch that does not fit.
#include "tests/engine/layers/host_training.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::ir;

TEST_CASE("The largest batch fits, and one more image does not")
{
    const model::Graph graph = model::build_model("alexnet");
    Settings settings{.batch = 1, .precision = Precision::bf16};
    constexpr std::size_t memory = std::size_t{4} << 30;
    const int fits = largest_batch(graph, settings, memory);
    settings.batch = fits;
    CHECK(write_step(graph, settings, loops()).bytes <= memory);
    settings.batch = fits + 1;
    CHECK(write_step(graph, settings, loops()).bytes > memory);
    CHECK(largest_batch(graph, settings, 1 << 20) == 0);
    CHECK_THROWS_WITH(require_room(graph, settings, memory),
                      Catch::Contains("the largest batch that fits is " + std::to_string(fits)));
    CHECK_NOTHROW(require_room(graph, settings, 2 * memory));
}
