// ONNX files written by hand to take all memory, to divide by zero, or to be read as another network.
#include "tests/model/made_onnx.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::model;
using namespace roof::tests;
using Catch::Contains;

namespace {

constexpr long long wrapped = 1LL << 32;  // 0 in 32 bits

struct Conv {
    long long outputs = 8, inputs = 3, window = 3, stride = 1, pad = 0, dilation = 1, group = 1;
};

onnx::ModelProto network_of(const Conv& of)
{
    onnx::ModelProto model = small_network();
    add_weights(model, "w", {of.outputs, of.inputs, of.window, of.window});
    add_node(model, "Conv", {"images", "w"}, "x");
    set_numbers(model, "strides", {of.stride, of.stride});
    set_numbers(model, "pads", {of.pad, of.pad, of.pad, of.pad});
    set_numbers(model, "dilations", {of.dilation, of.dilation});
    set_number(model, "group", of.group);
    add_end(model, "x", 8);
    return model;
}

onnx::ModelProto pool_of(const std::string& operation, long long window, long long stride, long long pad)
{
    onnx::ModelProto model = small_network();
    add_node(model, operation, {"images"}, "x");
    set_numbers(model, "kernel_shape", {window, window});
    set_numbers(model, "strides", {stride, stride});
    set_numbers(model, "pads", {pad, pad, pad, pad});
    add_end(model, "x", 3);
    return model;
}

}  // namespace

TEST_CASE("Sizes of an ONNX file count in 64 bits")
{
    CHECK(refusal_of(network_of({})).empty());
    const std::vector<std::pair<std::string, Conv>> wrong{
        {"4294967304", {.outputs = wrapped + 8}},  {"4294967299", {.window = wrapped + 3}},
        {"4294967297", {.stride = wrapped + 1}},   {"4294967296", {.pad = wrapped}},
        {"4294967297", {.dilation = wrapped + 1}}, {"4294967297", {.group = wrapped + 1}}};
    for (const auto& [number, of] : wrong) CHECK_THAT(refusal_of(network_of(of)), Contains(number));
    for (const std::string operation : {"MaxPool", "AveragePool"})
        for (const onnx::ModelProto& model : {pool_of(operation, wrapped + 3, 1, 0),
                                              pool_of(operation, 3, wrapped + 1, 0), pool_of(operation, 3, 1, wrapped)})
            CHECK_THAT(refusal_of(model), Contains("42949672"));
}

TEST_CASE("Groups that cannot be, no outputs, and a window of more than 2^30 positions are refused")
{
    for (const Conv& of : std::initializer_list<Conv>{
             {.group = 0}, {.group = -1}, {.outputs = 0}, {.window = 60'000, .pad = 60'000, .dilation = 60'000}}) {
        INFO(of.group << " " << of.outputs << " " << of.window);
        CHECK_FALSE(refusal_of(network_of(of)).empty());
    }
}

TEST_CASE("A layer of more values than any network has is refused")
{
    onnx::ModelProto model = network_of({.outputs = 1 << 30, .window = 1, .pad = 60'000});
    CHECK_THAT(refusal_of(model), Contains("2^53 values"));
}

TEST_CASE("Lists that double with each operator are refused before they fill the memory")
{
    onnx::ModelProto model = small_network();
    add_numbers(model, "list0", {1});
    for (int k = 0; k < 40; ++k) {
        const std::string before = "list" + std::to_string(k);
        add_node(model, "Concat", {before, before}, "list" + std::to_string(k + 1));
        set_number(model, "axis", 0);
    }
    add_node(model, "Reshape", {"images", "list40"}, "x");
    add_end(model, "x", 3);
    CHECK_THAT(refusal_of(model), Contains("more than 262,144 integers"));
}

TEST_CASE("Many copies of a long list are refused before they fill the memory")
{
    onnx::ModelProto model = small_network();
    add_numbers(model, "list0", std::vector<long long>(60'000, 1));
    for (int k = 0; k < 2'000; ++k)
        add_node(model, k % 2 == 0 ? "Identity" : "Cast", {"list" + std::to_string(k)}, "list" + std::to_string(k + 1));
    add_node(model, "Reshape", {"images", "list2000"}, "x");
    add_end(model, "x", 3);
    CHECK_THAT(refusal_of(model), Contains("after 4 million integers"));
}

TEST_CASE("A file of a hundred thousand operators is read")
{
    onnx::ModelProto model = small_network();
    std::string last = "images";
    for (int k = 0; k < 100'000; ++k) {
        const std::string next = "x" + std::to_string(k);
        add_node(model, "Relu", {last}, next);
        last = next;
    }
    add_end(model, last, 3);
    CHECK(read(model).layers().size() == 100'004);
}
