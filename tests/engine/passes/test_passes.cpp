// Each pass on a list of a few operations that is written by hand.
#include "tests/engine/passes/small_list.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::ir;

namespace {

/// A batch norm with a ReLU, and what may read that.
struct ScaledCase {
    explicit ScaledCase(Precision precision = Precision::bf16)
    {
        const auto map = [&](const std::string& name) { return list.map(name, 8, precision); };
        const Tensor x = map("x"), y = map("y"), z = map("z"), v = map("v"), dz = map("dz"), dy = map("dy");
        const Tensor w = list.map("w"), dw = list.map("dw");
        const Norm one = norm_in(list, "one"), two = norm_in(list, "two");
        list.forward("bn1");
        normalise(list, one, x, y, true);
        list.forward("conv", "convolution");
        list.list.append(convolve(y, z, w));
        list.forward("bn2");
        normalise(list, two, z, v, true);
        list.backward("conv", "convolution");
        list.list.append(convolve(y, dz, dw, Pass::backward_weights));
        list.list.append(convolve(dy, dz, w, Pass::backward_data));
        list.backward("bn1");
        differentiate(list, one, dy, x, map("dx"), y);
    }
    SmallList list;
};

Choosers library(const std::function<bool(const ConvolutionPass&)>& offers)
{
    return {[offers](const ConvolutionPass& shape) {
                return Choice{
                    .plan = 0, .implementation = {}, .algorithm = {}, .fused = is_bare(shape) || offers(shape)};
            },
            [](const Product&) { return Choice{.plan = 0, .implementation = {}, .algorithm = {}}; }};
}

/// y = relu(bn1(a) + bn2(b)) with its backward pass, in the form that layers write; the second term may be a map as it
/// is.
struct SumCase {
    explicit SumCase(bool two = true, bool relu = true, int channels = 8)
    {
        const auto map = [&](const std::string& name) { return list.map(name, channels); };
        const Tensor a = map("a"), b = map("b"), na = map("na"), nb = map("nb"), y = map("y"), dy = map("dy");
        const Tensor dz = map("dz"), g = map("g");
        const Norm one = norm_in(list, "one"), other = norm_in(list, "two");
        list.forward("bn1", "batch_norm");
        normalise(list, one, a, na, false);
        list.forward("bn2", "batch_norm");
        if (two) normalise(list, other, b, nb, false);
        list.forward("sum", "add");
        list.list.append(Normalise{.source = na, .other = two ? nb : b, .result = y, .relu = relu});
        list.backward("sum", "add");
        list.list.append(MaskGradient{dy, dz, relu ? y : Tensor{}, g});
        list.backward("bn2", "batch_norm");
        if (two) differentiate(list, other, g, b, map("db"));
        list.backward("bn1", "batch_norm");
        differentiate(list, one, g, a, map("da"));
    }
    SmallList list;
};

}  // namespace

TEST_CASE("a convolution reads the source of the batch norm before it where the library can in both passes")
{
    ScaledCase both;
    read_scaled_sources(both.list.list, library([](const ConvolutionPass&) { return true; }));
    CHECK(both.list.text() ==
          "bn1: statistics(x)\n"
          "conv: z = convolution(x*)\n"
          "bn2: statistics(z); v = relu(z*)\n"
          "conv': dw = weights(x*, dz); dy = convolution(dz)\n"
          "bn1': sums(dy|x*; x); dx = norm(dy|x*; x)\n");
    ScaledCase one;
    const std::string before = one.list.text();
    read_scaled_sources(one.list.list,
                        library([](const ConvolutionPass& shape) { return shape.pass == Pass::forward; }));
    CHECK(one.list.text() == before);
    ScaledCase wide(Precision::fp32);
    read_scaled_sources(wide.list.list, library([](const ConvolutionPass&) { return true; }));
    CHECK(wide.list.text() == before);
}

TEST_CASE("a max pool that alone reads a batch norm's ReLU reads its source, and leaves its gradient to it")
{
    for (const bool alone : {true, false}) {
        SmallList of;
        const Tensor x = of.map("x"), y = of.map("y"), z = of.map("z"), dz = of.map("dz"), dy = of.map("dy");
        const Tensor winners = of.map("winners", 8, Precision::int8);
        const Norm norm = norm_in(of, "norm");
        of.forward("bn");
        normalise(of, norm, x, y, true);
        of.forward("pool");
        of.list.append(MaxPool{.source = y, .result = z, .winners = winners});
        if (!alone) of.list.append(Normalise{.source = y, .result = of.map("u"), .relu = true});
        of.backward("pool");
        of.list.append(MaskGradient{of.map("a"), of.map("b"), {}, dz});
        of.list.append(MaxPoolGradient{.source = dy, .result = dz, .winners = winners});
        of.backward("bn");
        differentiate(of, norm, dy, x, of.map("dx"), y);
        const std::string before = of.text();
        read_scaled_pools(of.list);
        CHECK(of.text() == (alone ? "bn: statistics(x)\n"
                                    "pool: z = pool(x*)\n"
                                    "bn': dz = a + b; sums(dz|x* by winners; x); dx = norm(dz|x* by winners; x)\n"
                                  : before));
    }
}

TEST_CASE("a convolution sums what it writes for the batch norm behind it, in narrow precisions")
{
    const Choosers all = library([](const ConvolutionPass& shape) { return shape.statistics; });
    ScaledCase narrow;
    sum_for_statistics(narrow.list.list, all);
    CHECK(narrow.list.text().find("conv: z, sums = convolution(y)\nbn2: statistics(sums of z)") != std::string::npos);
    ScaledCase wide(Precision::fp32);
    const std::string before = wide.list.text();
    sum_for_statistics(wide.list.list, all);
    CHECK(wide.list.text() == before);
    ScaledCase none;
    sum_for_statistics(none.list.list, library([](const ConvolutionPass&) { return false; }));
    CHECK(none.list.text() == before);
}

TEST_CASE("a 1x1 convolution and the batch norm before a sum find statistics and gradients from moments")
{
    for (const bool wanted : {true, false}) {
        SmallList of;
        const Tensor x = of.map("x"), y = of.map("y"), z = of.map("z"), w = of.named("w", {.batch = 1, .channels = 64});
        const Tensor dz = of.map("dz"), dy = of.map("dy"), dx = of.map("dx"),
                     dw = of.named("dw", {.batch = 1, .channels = 64});
        const Norm norm = norm_in(of, "norm");
        of.forward("conv", "convolution");
        of.list.append(convolve(x, y, w));
        of.forward("bn");
        normalise(of, norm, y, z, false);
        of.forward("sum");
        of.list.append(Normalise{.source = z, .other = x, .result = of.map("sum")});
        of.backward("bn");
        differentiate(of, norm, dz, y, dy);
        of.backward("conv", "convolution");
        of.list.append(convolve(x, dy, dw, Pass::backward_weights));
        of.list.append(convolve(dx, dy, w, Pass::backward_data));
        of.list.completes(7);
        const std::string before = of.text();
        Choosers choosers;
        choosers.moments = [=](const ConvolutionPass&) { return wanted; };
        take_moments(of.list, choosers);
        CHECK(of.text() ==
              (wanted ? "conv: y = convolution(x)\n"
                        "bn: sums(x; ); new = weights(x, x); other; new = product(w); moment statistics; z = y*\n"
                        "sum: sum = z + x\n"
                        "conv+bn': sums(dz; ); new = weights(x, dz); other; new = weights(w, new); other; "
                        "dx = product(x); dx = product(dz)\n"
                      : before));
        CHECK(of.list.algorithms["gemm"] == (wanted ? 2 : 0));
    }
}

TEST_CASE("a sum normalises the batch norms that it alone reads, and finds the sums of the first with its mask")
{
    SumCase both;
    normalise_in_sums(both.list.list, false);
    CHECK(both.list.text() ==
          "bn1: statistics(a)\n"
          "bn2: statistics(b)\n"
          "sum: y = relu(a* + b*)\n"
          "sum': g = dy + dz|y\n"
          "bn2': sums(g; b); db = norm(g; b)\n"
          "bn1': sums(g; a); da = norm(g; a)\n");
    reduce_with_mask(both.list.list);
    CHECK(both.list.text().find("sum': g = sums(dy + dz|y; a)\n"
                                "bn2': sums(g; b); db = norm(g; b)\n"
                                "bn1': da = norm(g; a)\n") != std::string::npos);
    SumCase without_relu(true, false);
    normalise_in_sums(without_relu.list.list, true);
    CHECK(without_relu.list.text() == SumCase(true, false).list.text());
}

TEST_CASE("a sum of two batch norms keeps signs and finds the gradients of both in two passes")
{
    SumCase of;
    normalise_in_sums(of.list.list, false);
    reduce_with_mask(of.list.list);
    keep_signs(of.list.list);
    reduce_pairs(of.list.list, true);
    spread_pairs(of.list.list);
    CHECK(of.list.text() ==
          "bn1: statistics(a)\n"
          "bn2: statistics(b)\n"
          "sum: y, signs = relu(a* + b*)\n"
          "sum': g = sums(dy + dz|signs; a, b)\n"
          "bn2+bn1': db, da = norm(g; b, a)\n");
    SumCase odd(true, true, 6);  // no byte of signs
    normalise_in_sums(odd.list.list, false);
    reduce_with_mask(odd.list.list);
    const std::string before = odd.list.text();
    keep_signs(odd.list.list);
    reduce_pairs(odd.list.list, true);
    spread_pairs(odd.list.list);
    CHECK(odd.list.text() == before);
}

TEST_CASE("a sum with its batch norms and its ReLU is one stage in each direction")
{
    for (const bool two : {true, false}) {
        SumCase of(two);
        normalise_in_sums(of.list.list, true);
        reduce_with_mask(of.list.list);
        reduce_pairs(of.list.list, false);
        spread_pairs(of.list.list);
        join_sums(of.list.list);
        CHECK(of.list.text() == (two ? "bn1+bn2+sum: statistics(a); statistics(b); y = relu(a* + b*)\n"
                                       "bn1+bn2+sum': g = sums(dy + dz|y; a, b); db, da = norm(g; b, a)\n"
                                     : "bn1+sum: statistics(a); y = relu(a* + b)\n"
                                       "bn1+sum': g = sums(dy + dz|y; a); da = norm(g; a)\n"));
    }
}

TEST_CASE("a library computes a batch norm in the direction in which it has one; the other masks by what is there")
{
    for (const bool backward : {true, false}) {
        SmallList of;
        const Tensor x = of.map("x"), y = of.map("y"), dy = of.map("dy");
        const Norm norm = norm_in(of, "norm");
        of.forward("bn");
        normalise(of, norm, x, y, true);
        of.backward("bn");
        differentiate(of, norm, dy, x, of.map("dx"), y);
        Choosers choosers;
        choosers.norm = [=](const NormShape& shape) {
            CHECK(shape.relu);
            return Choice{.plan = shape.backward == backward ? 0 : -1, .implementation = {}, .algorithm = {}};
        };
        take_library_norms(of.list, choosers);
        mask_again(of.list);
        CHECK(of.text() == (backward ? "bn: statistics(x); y = relu(x*)\n"
                                       "bn': dx = library(dy|y; x)\n"
                                     : "bn: y = library(x, relu)\n"
                                       "bn': sums(dy|y; x); dx = norm(dy|y; x)\n"));
    }
    SmallList none;
    const Tensor x = none.map("x"), y = none.map("y"), dy = none.map("dy");
    const Norm norm = norm_in(none, "norm");
    none.forward("bn");
    normalise(none, norm, x, y, true);
    none.backward("bn");
    differentiate(none, norm, dy, x, none.map("dx"), y);
    mask_again(none.list);
    CHECK(none.text() ==
          "bn: statistics(x); y = relu(x*)\n"
          "bn': sums(dy|x*; x); dx = norm(dy|x*; x)\n");
}

namespace {

/// The backward pass of a convolution with bias and ReLU, and the update.
struct GradientCase {
    GradientCase()
    {
        const Tensor x = list.map("x"), y = list.map("y"), dy = list.map("dy"), g = list.map("g"), dx = list.map("dx");
        const Tensor w = list.map("w"), dw = list.named("dw", {.batch = 1, .channels = 64}),
                     db = list.named("db", numbers);
        const Tensor all = list.named("all", {.batch = 1, .channels = 128});
        list.backward("conv+relu", "convolution");
        list.list.append(ReduceGradient{.share = dy, .output = y, .result = g, .sum = db});
        list.list.append(convolve(x, g, dw, Pass::backward_weights));
        list.list.append(convolve(dx, g, w, Pass::backward_data));
        list.list.completes(1);
        list.list.completes(0);
        list.backward("other");
        list.list.append(MaskGradient{dx, {}, x, list.map("du")});
        list.list.begin("sgd", "sgd", Phase::update);
        list.list.append(Descend{.values = all, .gradients = all, .momenta = all, .copies = list.map("copies")});
    }
    SmallList list;
};

}  // namespace

TEST_CASE("a convolution finds the gradient of its bias with that of the weights")
{
    GradientCase of;
    take_whole_gradients(of.list.list);
    CHECK(of.list.text() ==
          "conv+relu': g = dy|y; dw, db = weights(x, g); dx = convolution(g)\n"
          "other': du = dx|x\n"
          "sgd: descend\n");
}

TEST_CASE("narrow gradients of weights are widened together, which completes them")
{
    GradientCase of;
    narrow_gradients(of.list.list, {.precision = Precision::bf16});
    CHECK(of.list.text() ==
          "conv+relu': g = sums(dy|y; ); new = weights(x, g); dx = convolution(g)\n"
          "other': du = dx|x; dw = new\n"
          "sgd: descend with copies\n");
    CHECK(of.list.list.stages.front().ready == std::vector<std::size_t>{1});
    CHECK((++of.list.list.stages.begin())->ready == std::vector<std::size_t>{0});
}

TEST_CASE("a linear layer's weights are updated from the factors of their gradient")
{
    SmallList of;
    const Tensor x = of.map("x"), dy = of.map("dy"), gradients = of.named("gradients", {.batch = 1, .channels = 256});
    Tensor dw = gradients;
    dw.channels = 64;
    dw.begin = 512;
    of.backward("fc+relu", "linear");
    of.list.append(Multiply{.pass = Pass::backward_weights, .source = x, .weights = dw, .result = dy}, {},
                   {.flops = Flops{1000}, .compulsory = {}, .no_reuse = {}});
    of.list.append(Multiply{.pass = Pass::backward_data, .source = of.map("dx"), .weights = of.map("w"), .result = dy});
    of.list.begin("sgd", "sgd", Phase::update);
    of.list.add_work({.flops = Flops{6 * 256}, .compulsory = {}, .no_reuse = {}});
    const Tensor values = of.named("values", {.batch = 1, .channels = 256});
    of.list.append(Descend{.values = values, .gradients = gradients, .momenta = of.named("momenta", values)});
    update_from_factors(of.list, {});
    CHECK(of.text() ==
          "fc+relu': dx = product(dy)\n"
          "fc: descend(x, dy)\n"
          "sgd: descend\n");
    const List::Stage& update = *++of.list.stages.begin();
    const auto& descent = std::get<DescendProduct>(update.entries.front().operation);
    CHECK(descent.values.begin == 512);
    CHECK(descent.values.elements() == 64);
    CHECK(update.entries.front().work.flops == Flops{1000});
    CHECK(update.part.work.flops == Flops{6 * 64});
    CHECK(of.list.stages.back().part.work.flops == Flops{6 * 192});
}

TEST_CASE("the gradient of the logits overwrites them, unless somebody reads them")
{
    SmallList of;
    const Tensor x = of.map("x"), dx = of.map("dx"), kept = of.map("kept"), given = of.map("given");
    of.program.keep(kept);
    of.forward("loss");
    of.list.append(Loss{.logits = x, .gradient = dx});
    of.list.append(Loss{.logits = kept, .gradient = given});
    write_in_place(of.list);
    const auto place = [&](const Tensor& tensor) { return of.program.place_of(tensor.block); };
    CHECK(place(dx) == x.block);
    CHECK(place(given) == given.block);
}

TEST_CASE("backward, a result overwrites a gradient that nothing reads any more")
{
    SmallList of;
    const Tensor x = of.map("x"), a = of.map("a"), b = of.map("b"), c = of.map("c"), d = of.map("d"), e = of.map("e");
    const Tensor kept = of.list.resident(x);
    of.forward("forward");
    of.list.append(Normalise{.source = x, .result = a, .relu = true});
    of.backward("backward");
    of.list.append(MaskGradient{.share = a, .output = x, .result = b});          // a is read again
    of.list.append(MaskGradient{.share = a, .output = x, .result = c});          // over a
    of.list.append(MaskGradient{.share = kept, .other_share = b, .result = d});  // over b
    of.list.append(MaskGradient{.share = c, .other_share = d, .result = e});     // over a
    write_in_place(of.list);
    const auto place = [&](const Tensor& tensor) { return of.program.place_of(tensor.block); };
    CHECK(place(a) == a.block);
    CHECK(place(b) == b.block);
    CHECK(place(c) == a.block);
    CHECK(place(d) == b.block);
    CHECK(place(e) == a.block);
}
