// Passes on products: what the library does behind one in the same operation.
#include "tests/engine/passes/small_list.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::ir;

TEST_CASE("a product sums the gradient of its bias, where the library can and nothing masks that gradient")
{
    const std::string apart =
        "fc': sums(dy; ); g = weights(x, dy); dx = product(dy)\n"
        "other': sums(dz|z; ); g = weights(x, dz)\n";
    for (const bool fuses : {false, true}) {
        SmallList of;
        const Tensor x = of.map("x"), dy = of.map("dy"), dz = of.map("dz"), all = of.map("g");
        of.backward("fc", "linear");
        of.list.append(ReduceGradient{.share = dy, .sum = all});
        of.list.append(Multiply{Pass::backward_weights, x, all, dy});
        of.list.append(Multiply{Pass::backward_data, of.map("dx"), of.map("w"), dy});
        of.backward("other", "linear");
        of.list.append(ReduceGradient{.share = dz, .output = of.map("z"), .sum = all});
        of.list.append(Multiply{Pass::backward_weights, x, all, dz});
        const Choosers choosers{.convolution = {}, .product = [&](auto&) { return Choice{.fused = fuses}; }};
        REQUIRE(of.text() == apart);
        sum_in_products(of.list, choosers);
        CHECK(of.text() ==
              (fuses ? "fc': g, g = weights(x, dy); dx = product(dy)\n" + apart.substr(apart.find("other")) : apart));
    }
}

TEST_CASE("a product applies the GELU behind it, and its slope before it, where the library can")
{
    for (const bool fuses : {true, false}) {
        SmallList of;
        const Tensor x = of.map("x"), y = of.map("y"), g = of.map("g"), w = of.map("w");
        const Tensor dg = of.map("dg"), dy = of.map("dy"), dz = of.map("dz");
        const auto kind = model::LayerKind::gelu_tanh;
        of.forward("fc", "linear");
        of.list.append(Multiply{.source = x, .weights = w, .result = y, .bias = of.map("b")});
        of.forward("gelu", "gelu_tanh");
        of.list.add_work({.flops = Flops{8}, .compulsory = {}, .no_reuse = {}});
        of.list.append(Activate{kind, y, {}, g});
        of.backward("next", "linear");
        of.list.append(Multiply{.pass = Pass::backward_data, .source = dg, .weights = w, .result = dz});
        of.backward("gelu", "gelu_tanh");
        of.list.append(Activate{kind, y, dg, dy});
        const std::string apart = of.text();
        activate_in_products(of.list, {.convolution = {}, .product = [&](auto&) { return Choice{.fused = fuses}; }});
        CHECK(of.text() == (fuses ? "fc: g = product(x; gelu of y)\nnext': dy = product(dz; gelu of y)\n" : apart));
        CHECK(of.list.stages.front().part.work.flops.value == (fuses ? 8 : 0));
    }
}

TEST_CASE("a product leaves GELU alone where others read its gradient, or it has no bias or another form")
{
    for (const std::string what : {"others", "no bias", "by erf"}) {
        SmallList of;
        const Tensor y = of.map("y"), dg = of.map("dg");
        const auto kind = what == "by erf" ? model::LayerKind::gelu : model::LayerKind::gelu_tanh;
        of.forward("fc", "linear");
        const Tensor bias = what == "no bias" ? Tensor{} : of.map("b");
        of.list.append(Multiply{.source = of.map("x"), .weights = of.map("w"), .result = y, .bias = bias});
        if (what != "others") of.list.append(Activate{kind, y, {}, of.map("g")});
        of.backward("next", "linear");
        of.list.append(
            Multiply{.pass = Pass::backward_data, .source = dg, .weights = of.map("v"), .result = of.map("dz")});
        if (what == "others") of.list.append(MaskGradient{dg, {}, {}, of.map("more")});
        if (what != "no bias") of.list.append(Activate{kind, y, dg, of.map("dy")});
        const std::string before = of.text();
        activate_in_products(of.list, {.convolution = {}, .product = [](auto&) { return Choice{}; }});
        CHECK(of.text() == before);
    }
}

TEST_CASE("a product without a bias writes narrow logits, and their gradient overwrites them")
{
    for (const bool has_bias : {false, true}) {
        SmallList of;
        const Tensor x = of.map("x"), logits = of.map("logits", 8, Precision::fp32);
        of.forward("fc");
        of.list.append(Multiply{Pass::forward, x, of.map("w"), logits, has_bias ? of.map("b") : Tensor{}});
        of.forward("loss");
        const Tensor gradient = of.map("gradient");
        of.list.append(Loss{.logits = logits, .gradient = gradient, .classes = 7});
        narrow_logits(of.list);
        const auto& product = std::get<Multiply>(of.list.stages.front().entries.front().operation);
        const auto& loss = std::get<Loss>(of.list.stages.back().entries.front().operation);
        CHECK(product.result.precision == (has_bias ? Precision::fp32 : Precision::bf16));
        CHECK((loss.logits.precision == product.result.precision && loss.logits.block == product.result.block));
        CHECK((loss.logits.block == logits.block) == has_bias);
        CHECK(of.program.place_of(gradient.block) == (has_bias ? gradient.block : loss.logits.block));
    }
}
