// Kept activations of a network against the tensors that PyTorch saves for its backward pass.
#include "analysis/estimate/footprint.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

Footprint step(const std::string& model, int batch, Precision precision = Precision::fp32)
{
    return footprint_of(model::build_model(model), batch, precision, Passes::train);
}

}  // namespace

TEST_CASE("kept activations are those that PyTorch saves, except its copies in dropout and pooling")
{
    struct Saved {
        const char* model;
        double bytes;   // unique tensors saved by autograd at batch 1, with the image
        double copies;  // float masks of dropout where a byte suffices, and the input of a pooling that keeps its size
    };
    const auto saved = GENERATE(values<Saved>({{"alexnet", 3745196, 3 * (9216 + 4096) + 36864},
                                               {"vgg16", 73359276, 3 * 2 * 4096 + 100352},
                                               {"resnet18", 22222252, 0},
                                               {"resnet50", 86125996, 0}}));
    INFO(saved.model);
    const Footprint footprint = step(saved.model, 1);
    const double kept = (footprint.kept_by_pytorch() + footprint.images).value;
    CHECK(kept + saved.copies == Approx(saved.bytes).epsilon(0.006));
    CHECK(kept < saved.bytes);
}

TEST_CASE("PyTorch keeps what a max pool read, also where no other layer needs it")
{
    // PyTorch 2.14.1 saved 394,588 bytes at batch 6: also 192 of the norm's statistics, 48 of labels and 4 of a weight.
    const model::Graph graph = model::build_model(
        "{name: mix, image: [8, 20, 20], layers: [{convolution: {channels: 24, window: 3, stride: 2, padding: 1, "
        "groups: 4, bias: false}}, batch_norm, {hard_swish: {name: a}}, {convolution: {channels: 24, window: 5, "
        "padding: 4, "
        "dilation: 2, groups: 24, name: c}}, {add: {from: [c, a]}}, silu, {max_pool: {window: 3, stride: 2, padding: "
        "1}}, "
        "average_pool, flatten, {linear: {features: 7}}]}");
    const Footprint footprint = footprint_of(graph, 6, Precision::fp32, Passes::train);
    CHECK((footprint.kept_by_pytorch() + footprint.images).value == 394588 - 192 - 48 - 4);
    CHECK(footprint.pool_inputs.value == 57600);
}

TEST_CASE("a ReLU works in place, so one of input and output counts")
{
    // Per image: the outputs of five convolutions and two linear layers, three pools, two dropouts, and the last layer.
    const Footprint footprint = step("alexnet", 1);
    const double convolutions = 64 * 55 * 55 + 192 * 27 * 27 + 384 * 13 * 13 + 2 * 256 * 13 * 13;
    const double pools = 64 * 27 * 27 + 192 * 13 * 13;
    CHECK(footprint.activations.value == 4 * (convolutions + pools + 2 * 4096 + (9216 + 4096) + 1000));
    CHECK(footprint.pool_winners.value == pools + 9216);
    CHECK(footprint.masks.value == pools + 9216 + (9216 + 4096));
}

TEST_CASE("parameters do not grow with the batch, activations do")
{
    const Footprint one = step("resnet18", 1);
    const Footprint four = step("resnet18", 4);
    CHECK(four.parameters == one.parameters);
    CHECK(four.gradients == one.gradients);
    CHECK(one.parameters.value == 4.0 * 11689512);
    CHECK(four.kept().value == 4 * one.kept().value);
    CHECK(four.working.value == 4 * one.working.value);
}

TEST_CASE("formats of two bytes have small activations, and parameters of four bytes with a small copy")
{
    const Footprint small = step("resnet50", 8, Precision::bf16);
    const Footprint full = step("resnet50", 8);
    CHECK(small.activations.value == full.activations.value / 2);
    CHECK(small.masks == full.masks);
    CHECK(small.parameters.value == 1.5 * full.parameters.value);
    CHECK(small.momentum == full.momentum);
}

TEST_CASE("a forward pass keeps activations and no gradients, and inference keeps neither")
{
    const model::Graph graph = model::build_model("vgg16");
    const Footprint forward = footprint_of(graph, 32, Precision::fp32, Passes::forward);
    CHECK(forward.gradients.value == 0);
    CHECK(forward.momentum.value == 0);
    CHECK(forward.kept() == step("vgg16", 32).kept());
    CHECK(forward.total() < step("vgg16", 32).total());
    CHECK(inference_bytes(graph, 32, Precision::fp32) < forward.total());
}

TEST_CASE("the largest batch that fits is the last with a fitting footprint")
{
    for (const char* model : {"alexnet", "vgg16", "resnet50"}) {
        INFO(model);
        const model::Graph graph = model::build_model(model);
        const Bytes memory{16e9};
        const int most = largest_batch(footprint_of(graph, 1, Precision::fp32, Passes::train), 1, memory);
        CHECK(footprint_of(graph, most, Precision::fp32, Passes::train).total() <= memory);
        CHECK(footprint_of(graph, most + 1, Precision::fp32, Passes::train).total() > memory);
    }
    CHECK(largest_batch(footprint_of(model::build_model("vgg16"), 1, Precision::fp32, Passes::train), 1, Bytes{1e9}) ==
          0);
}
