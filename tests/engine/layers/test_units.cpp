#include "workloads/engine/layers/builder.hpp"

#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::ir;

namespace {

std::vector<std::pair<int, int>> pairs_of(const std::vector<Unit>& units)
{
    std::vector<std::pair<int, int>> pairs;
    for (const Unit& unit : units) pairs.emplace_back(unit.layer, unit.relu);
    return pairs;
}

/// A convolution and its ReLU, read by a sum and a pooling; a batch norm with another ReLU.
model::Graph small()
{
    model::Graph net("small", {3, 8, 8});
    const int left = net.relu("relu1", net.convolution("conv", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true));
    const int right = net.relu("relu2", net.batch_norm("norm", left));
    net.average_pool("pool", net.relu("relu3", net.add("sum", left, right)), 8);
    return net;
}

}  // namespace

TEST_CASE("units are the layers in order, each with the ReLU that is its only reader")
{
    using Pairs = std::vector<std::pair<int, int>>;
    CHECK(pairs_of(units_of(small())) == Pairs{{0, -1}, {1, 2}, {3, 4}, {5, 6}, {7, -1}});
}

TEST_CASE("every layer of every model is in exactly one unit")
{
    for (const std::string& name : model::model_names()) {
        const model::Graph graph = model::build_model(name);
        std::vector<int> times(graph.layers().size());
        for (const Unit& unit : units_of(graph)) {
            ++times[static_cast<std::size_t>(unit.layer)];
            if (unit.fused()) ++times[static_cast<std::size_t>(unit.relu)];
        }
        CHECK(times == std::vector<int>(times.size(), 1));
    }
}
