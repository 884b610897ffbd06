// The loops that stand for cuDNN and cuBLASLt refuse what those would misread: planted misuse.
#include "ert/base/error.hpp"
#include "tests/engine/layers/host_values.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace roof;
using namespace roof::ir;

namespace {

/// A convolution that is right, on memory of its own, until `spoil` changes it.
void run(const ConvolutionPass& shape, const std::function<void(Convolve&)>& spoil)
{
    Program program;
    const Tensor channels{.batch = 1, .channels = 8};
    const Tensor map{.batch = 2, .channels = 8, .height = 4, .width = 4, .precision = Precision::bf16};
    Convolve operation{.shape = shape,
                       .source = program.resident(map),
                       .weights = program.resident({.batch = 8, .channels = 8, .precision = Precision::bf16}),
                       .result = program.resident(map)};
    if (shape.prologue) {
        operation.scale = program.resident(channels);
        operation.shift = program.resident(channels);
    }
    if (shape.statistics) {
        operation.sum = program.resident(channels);
        operation.squares = program.resident(channels);
    }
    spoil(operation);
    std::vector<std::byte> bytes(program.place() + 4096);
    convolve(operation, Memory(program, bytes.data()));
}

constexpr ConvolutionPass plain{
    {.batch = 2, .source = {8, 4, 4}, .result = {8, 4, 4}, .window = {.size = 1, .stride = 1, .padding = 0}},
    Pass::forward,
    Precision::bf16};

ConvolutionPass with_norms()
{
    ConvolutionPass shape = plain;
    shape.prologue = shape.statistics = true;
    return shape;
}

}  // namespace

TEST_CASE("The loops for cuDNN refuse operands that a plan would read past or misread")
{
    CHECK_NOTHROW(run(plain, [](Convolve&) {}));
    CHECK_NOTHROW(run(with_norms(), [](Convolve&) {}));
    const auto refuses = [](const ConvolutionPass& shape, const std::function<void(Convolve&)>& spoil,
                            const char* words) {
        INFO(words);
        CHECK_THROWS_WITH(run(shape, spoil), Catch::Contains(words));
    };
    refuses(
        plain, [](Convolve& op) { op.weights = {}; }, "the weights has no address");
    refuses(
        plain, [](Convolve& op) { op.source.begin += 8; }, "the source is not aligned to 16 bytes");
    refuses(
        plain, [](Convolve& op) { op.result.channels = 4; }, "the result has 128 values, not 256");
    refuses(
        plain, [](Convolve& op) { op.source.precision = Precision::fp16; }, "the source is of another type");
    refuses(
        plain, [](Convolve& op) { op.bias = op.weights; }, "a bias is given exactly");
    refuses(
        plain, [](Convolve& op) { op.scale = op.shift = op.weights; }, "scale and shift are given exactly");
    refuses(
        with_norms(), [](Convolve& op) { op.shift = {}; }, "scale and shift are given exactly");
    refuses(
        with_norms(), [](Convolve& op) { op.squares = {}; }, "sums are given exactly");
    refuses(
        with_norms(), [](Convolve& op) { op.scale.precision = Precision::bf16; }, "scale or shift is of another type");
    refuses(
        with_norms(), [](Convolve& op) { op.shape.pass = Pass::backward_data; }, "only the forward pass");
}

TEST_CASE("The loops for cuBLASLt refuse matrices at addresses that its suggestions do not allow for")
{
    Program program;
    Multiply operation{.source = program.resident({.batch = 2, .channels = 128, .precision = Precision::bf16}),
                       .weights = program.resident({.batch = 64, .channels = 128, .precision = Precision::bf16}),
                       .result = program.resident({.batch = 2, .channels = 64, .precision = Precision::bf16})};
    std::vector<std::byte> bytes(program.place() + 8192);
    const auto place = reinterpret_cast<std::uintptr_t>(bytes.data());
    const Memory memory(program, bytes.data() + (256 - place % 256));
    CHECK_NOTHROW(multiply(operation, memory));
    operation.weights.begin = 128;
    CHECK_THROWS_WITH(multiply(operation, memory), Catch::Contains("the weights is not aligned to 256 bytes"));
    operation.weights = {};
    CHECK_THROWS_AS(multiply(operation, memory), Error);
    operation.weights = operation.source;
    CHECK_THROWS_WITH(multiply(operation, memory), Catch::Contains("not 8192"));
}
