// Swin exported to ONNX: windows of a map that is rolled, tables of scores by position, and masks.
#include "tests/model/made_onnx.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

using namespace roof;
using namespace roof::model;
using namespace roof::tests;

namespace {

std::string file_of(const std::string& name)
{
    return std::string(ROOF_TEST_DATA) + "/data/onnx/" + name + ".onnx";
}

}  // namespace

TEST_CASE("Swin's windows have a table each, and hide what rolling has made neighbours")
{
    const Graph graph = build_model(file_of("swin_traced"));
    CHECK(graph.parameter_count() == 127'126);  // PyTorch's
    std::vector<int> windows;
    std::vector<long long> hidden;
    for (const Layer& layer : graph.layers()) {
        if (layer.kind != LayerKind::attention) continue;
        CHECK((layer.count == 169 && layer.heads == (windows.size() < 2 ? 1 : 2)));
        windows.push_back(layer.windows);
        hidden.push_back(std::ranges::count(layer.places, -1));
        CHECK(layer.places[0] == 84);  // no distance: row 6, column 6 of 13 x 13
        CHECK(layer.places[48] == 0);  // of the first position to the last
    }
    CHECK(windows == std::vector{4, 4, 1, 1});
    // 14 x 14, rolled by 3: two windows with parts of 28 and 21 positions, one with parts of 16, 12, 12 and 9.
    const auto split = [](std::vector<long long> parts) {
        long long pairs = 49 * 49;
        for (const long long part : parts) pairs -= part * part;
        return pairs;
    };
    CHECK(hidden == std::vector<long long>{0, 2 * split({28, 21}) + split({16, 12, 12, 9}), 0, 0});
    CHECK(std::ranges::count_if(graph.layers(), [](const Layer& layer) { return !layer.order.empty(); }) == 5);
}

TEST_CASE("Swin with another mask, and one whose tables an exporter has folded, are refused")
{
    CHECK_THROWS_WITH(build_model(file_of("swin_dynamo")),
                      Catch::Contains("Add of other than zeros, a mask of each window and rows of a trained table"));
    onnx::ModelProto model;
    std::ifstream file(file_of("swin_traced"), std::ios::binary);
    REQUIRE(model.ParseFromIstream(&file));
    int changed = 0;
    for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
        float number = 0;
        for (onnx::AttributeProto& one : *node.mutable_attribute()) {
            std::string& raw = *one.mutable_t()->mutable_raw_data();
            if (node.op_type() != "Constant" || one.t().data_type() != onnx::TensorProto::FLOAT || raw.size() != 4)
                continue;
            std::memcpy(&number, raw.data(), 4);
            if (number != -100) continue;
            number = -5;
            std::memcpy(raw.data(), &number, 4);
            ++changed;
        }
    }
    CHECK(changed > 0);
    CHECK_THAT(refusal_of(model), Catch::Contains("a mask of each window"));
}
