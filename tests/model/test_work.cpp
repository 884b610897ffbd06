// Bytes per kind of layer, on shapes small enough to count by hand.
#include "workloads/model/work.hpp"

#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::model;

TEST_CASE("a convolution's compulsory bytes are input, weights and output, each once")
{
    Graph graph("tiny", {2, 4, 4});
    const int first = graph.convolution("first", 0, 3, {.size = 3, .stride = 1, .padding = 1}, true);
    const int second = graph.convolution("second", first, 5, {.size = 1, .stride = 1, .padding = 0}, true);
    const LayerWork one = work_of(graph, first, 2, Precision::fp32);
    const double x = 2 * 2 * 16, w = 3 * 2 * 9, b = 3, y = 2 * 3 * 16;
    CHECK(one.forward.compulsory.value == 4 * (x + w + b + y));
    CHECK(one.backward_weights.compulsory.value == 4 * (x + w + b + y));
    CHECK(one.forward.no_reuse.value == 4 * (2 * y * 18 + b + y));
    CHECK(one.backward_data.compulsory.value == 0);
    CHECK(one.backward_data.no_reuse.value == 0);

    const LayerWork two = work_of(graph, second, 2, Precision::fp32);
    CHECK(two.backward_data.compulsory.value == 4 * (y + 15 + 2 * 5 * 16));
    CHECK(two.backward_data.flops.value == 2 * 15 * 32);
}

TEST_CASE("input positions that no window reads are not compulsory forward, but their gradient is written")
{
    Graph graph("tiny", {1, 4, 4});
    const int copy = graph.relu("copy", 0);
    const int sample = graph.convolution("sample", copy, 1, {.size = 1, .stride = 2, .padding = 0}, false);
    const LayerWork work = work_of(graph, sample, 1, Precision::fp32);
    CHECK(work.forward.compulsory.value == 4 * (4 + 1 + 4));
    CHECK(work.backward_weights.compulsory.value == 4 * (4 + 1 + 4));
    CHECK(work.backward_data.compulsory.value == 4 * (16 + 1 + 4));
}

TEST_CASE("elementwise layers move their operands once, and masks and pool winners as one byte")
{
    Graph graph("tiny", {2, 4, 4});
    const int norm = graph.batch_norm("norm", 0);
    const int relu = graph.relu("relu", norm);
    const int sum = graph.add("sum", relu, norm);
    const int pool = graph.max_pool("pool", sum, {.size = 2, .stride = 2, .padding = 0});
    const int mean = graph.average_pool("mean", pool, 1);
    const int flat = graph.flatten("flat", mean);
    const int drop = graph.dropout("drop", flat, 0.5F);
    const auto forward = [&](int layer) { return work_of(graph, layer, 3, Precision::fp32).forward.compulsory.value; };
    const auto backward = [&](int layer) {
        return work_of(graph, layer, 3, Precision::fp32).backward_data.compulsory.value;
    };
    const double map = 3 * 2 * 16, pooled = 3 * 2 * 4, vector = 3 * 2;
    CHECK(forward(norm) == 4 * (2 * map + 4));
    CHECK(backward(norm) == 4 * (3 * map + 8));
    CHECK(forward(relu) == 4 * 2 * map);
    CHECK(backward(relu) == 4 * 3 * map);
    CHECK(forward(sum) == 4 * 3 * map);
    CHECK(backward(sum) == 4 * 3 * map);
    CHECK(forward(pool) == 4 * (map + pooled) + pooled);
    CHECK(backward(pool) == 4 * (map + pooled) + pooled);
    CHECK(forward(mean) == 4 * (pooled + vector));
    CHECK(forward(flat) == 0);
    CHECK(forward(drop) == 4 * 2 * vector + vector);
    CHECK(backward(drop) == 4 * 2 * vector + vector);
}

TEST_CASE("what a pass writes is its results, as the operands are counted")
{
    Graph graph("tiny", {2, 4, 4});
    const int first = graph.convolution("first", 0, 3, {.size = 3, .stride = 1, .padding = 1}, true);
    const int second = graph.convolution("second", first, 5, {.size = 1, .stride = 1, .padding = 0}, true);
    const int norm = graph.batch_norm("norm", second);
    const int relu = graph.relu("relu", norm);
    const int sum = graph.add("sum", relu, norm);
    const int pool = graph.max_pool("pool", sum, {.size = 2, .stride = 2, .padding = 0});
    const auto of = [&](int layer) { return work_of(graph, layer, 2, Precision::fp32); };
    const double first_map = 2 * 3 * 16, map = 2 * 5 * 16, pooled = 2 * 5 * 4;
    CHECK(of(first).forward.written.value == 4 * first_map);
    CHECK(of(first).backward_weights.written.value == 4 * (3 * 2 * 9 + 3));
    CHECK(of(first).backward_data.written.value == 0);
    CHECK(of(second).backward_data.written.value == 4 * first_map);
    CHECK(of(norm).forward.written.value == 4 * map);
    CHECK(of(norm).backward_data.written.value == 4 * (map + 10));
    CHECK(of(relu).forward.written.value == 4 * map);
    CHECK(of(relu).backward_data.written.value == 4 * map);
    CHECK(of(sum).forward.written.value == 4 * map);
    CHECK(of(sum).backward_data.written.value == 4 * 2 * map);
    CHECK(of(pool).forward.written.value == 4 * pooled + pooled);
    CHECK(of(pool).backward_data.written.value == 4 * map);
    CHECK(of(second).update.written.value == 8 * 20);
    CHECK(work_of(graph, second, 2, Precision::bf16).update.written.value == 10 * 20);
}

TEST_CASE("the update moves 20 bytes per parameter in fp32, 22 in bf16 and 40 in fp64")
{
    const Graph graph = build_model("alexnet");
    const double parameters = 307392;  // features.3
    CHECK(work_of(graph, 4, 1, Precision::fp32).update.compulsory.value == 20 * parameters);
    CHECK(work_of(graph, 4, 8, Precision::fp32).update.flops.value == 6 * parameters);
    CHECK(work_of(graph, 4, 1, Precision::bf16).update.compulsory.value == 22 * parameters);
    CHECK(work_of(graph, 4, 1, Precision::fp64).update.compulsory.value == 40 * parameters);
}

TEST_CASE("the update by AdamW moves 28 bytes per parameter in fp32, 30 in bf16")
{
    const auto of = [](Precision precision) { return update_work(100, precision, Optimizer::adamw); };
    CHECK(of(Precision::fp32).compulsory.value == 2800);
    CHECK(of(Precision::fp32).written.value == 1200);
    CHECK(of(Precision::bf16).compulsory.value == 3000);
    CHECK(of(Precision::fp32).flops.value == 1400);
    CHECK(update_work(100, Precision::fp32, Optimizer::sgd).flops.value == 600);
}

TEST_CASE("16-bit storage halves the activations, but gradients of weights stay fp32")
{
    const Graph graph = build_model("vgg11");
    const int last = static_cast<int>(graph.layers().size()) - 1;
    const LayerWork work = work_of(graph, last, 1, Precision::bf16);
    CHECK(work.forward.compulsory.value == 2 * (4096.0 + 4097000 + 1000));
    CHECK(work.backward_weights.compulsory.value == 2 * (4096.0 + 1000) + 4 * 4097000.0);
}

TEST_CASE("compulsory traffic is at most the traffic without reuse, and work grows with the batch")
{
    for (const std::string model : {"alexnet", "vgg11_bn", "resnet50"}) {
        const Graph graph = build_model(model);
        for (int layer = 0; layer < static_cast<int>(graph.layers().size()); ++layer) {
            INFO(model << " " << graph.layer(layer).name);
            const LayerWork one = work_of(graph, layer, 1, Precision::fp32);
            const LayerWork seven = work_of(graph, layer, 7, Precision::fp32);
            for (const PassWork LayerWork::*pass :
                 {&LayerWork::forward, &LayerWork::backward_data, &LayerWork::backward_weights}) {
                CHECK((one.*pass).compulsory <= (one.*pass).no_reuse);
                CHECK((one.*pass).written <= (one.*pass).compulsory);
                CHECK((seven.*pass).flops.value == 7 * (one.*pass).flops.value);
            }
            CHECK(seven.multiply_adds_unpadded == 7 * one.multiply_adds_unpadded);
        }
    }
}

TEST_CASE("Winograd counts 36 products per tile of 4 x 4 outputs and pair of channels, with tiles rounded up")
{
    Graph graph("tiny", {2, 8, 8});
    const int exact = graph.convolution("exact", 0, 3, {.size = 3, .stride = 1, .padding = 1}, false);
    const int ragged = graph.convolution("ragged", exact, 5, {.size = 3, .stride = 1, .padding = 0}, false);
    const LayerWork whole = work_of(graph, exact, 7, Precision::fp32);
    CHECK(winograd_multiply_adds(convolution_of(graph, exact, 7), 4) == 7LL * 4 * 2 * 3 * 36);
    CHECK(winograd_multiply_adds(convolution_of(graph, exact, 7), 4) * 4 == whole.multiply_adds);
    CHECK(winograd_multiply_adds(convolution_of(graph, ragged, 7), 4) == 7LL * 4 * 3 * 5 * 36);
    CHECK(winograd_multiply_adds(convolution_of(graph, ragged, 7), 2) == 7LL * 9 * 3 * 5 * 16);
    CHECK(winograd_multiply_adds(convolution_of(graph, ragged, 7), 4, CutTiles::by_need) ==
          7LL * (6 + 4) * (6 + 4) * 3 * 5);
    CHECK(winograd_multiply_adds(convolution_of(graph, exact, 7), 4, CutTiles::by_need) ==
          winograd_multiply_adds(convolution_of(graph, exact, 7), 4, CutTiles::as_whole));
}

TEST_CASE("a window with dilation reads every second position, and only these are compulsory")
{
    Graph graph("tiny", {1, 5, 5});
    const int layer = graph.convolution("dilated", 0, 1, {.size = 2, .stride = 1, .padding = 1, .dilation = 3}, false);
    CHECK(graph.layer(layer).output == Shape{1, 4, 4});
    // Each axis has the windows {-1, 2}, {0, 3}, {1, 4}, {2, 5}: six positions inside, five different ones.
    CHECK(work_of(graph, layer, 1, Precision::fp32).multiply_adds == 64);
    CHECK(work_of(graph, layer, 1, Precision::fp32).multiply_adds_unpadded == 36);
    CHECK(work_of(graph, layer, 1, Precision::fp32).forward.compulsory.value == 4 * (25 + 4 + 16));
}

TEST_CASE("activations read their input again, and a product with factors per channel sums their gradients")
{
    Graph graph("tiny", {4, 3, 3});
    const int swish = graph.activation(LayerKind::hard_swish, "swish", 0);
    const int mean = graph.average_pool("mean", swish, 1);
    const int gate = graph.activation(LayerKind::sigmoid, "gate", mean);
    const int product = graph.multiply("product", swish, gate);
    const int square = graph.multiply("square", product, swish);
    const int half = graph.slice("half", square, 2, 2);
    const int gelu = graph.activation(LayerKind::gelu, "gelu", half);
    const auto work = [&](int layer) { return work_of(graph, layer, 2, Precision::fp32); };
    const double map = 2 * 4 * 9, vector = 2 * 4;
    CHECK(work(swish).forward.flops.value == 5 * map);
    CHECK(work(swish).backward_data.compulsory.value == 4 * 3 * map);
    CHECK(work(gate).backward_data.flops.value == 6 * vector);
    CHECK(work(product).forward.compulsory.value == 4 * (2 * map + vector));
    CHECK(work(product).backward_data.flops.value == 3 * map);
    CHECK(work(product).backward_data.compulsory.value == 4 * (3 * map + 2 * vector));
    CHECK(work(product).backward_data.written.value == 4 * (map + vector));
    CHECK(work(square).backward_data.flops.value == 2 * map);
    CHECK(work(square).backward_data.compulsory.value == 4 * 5 * map);
    CHECK(work(half).forward.compulsory.value == 4 * map);
    CHECK(work(gelu).forward.flops.value == 5 * map / 2);
    CHECK(work(gelu).backward_data.flops.value == 11 * map / 2);
    CHECK(work(gelu).backward_data.compulsory.value == 4 * 3 * map / 2);
    CHECK_THROWS_AS(graph.multiply("wrong", swish, half), std::logic_error);
    CHECK_THROWS_AS(graph.slice("wrong", swish, 3, 2), std::logic_error);
    CHECK_THROWS_AS(graph.shuffle("wrong", swish, {0, 1, 2, 2}), std::logic_error);
}

TEST_CASE(
    "attention counts a product for each pair of positions, forward twice and backward five times; executed: those "
    "that the mask leaves")
{
    Graph graph("tiny", {24, 1, 16});
    const int full = graph.attention("full", 0, 2);
    const int causal = graph.attention("causal", 0, 4, true);
    const auto work = [&](int layer) { return work_of(graph, layer, 3, Precision::bf16); };
    CHECK(graph.layer(full).output == Shape{8, 1, 16});
    CHECK(work(full).forward.flops.value == 4 * 256 * 8 * 3);
    CHECK(work(full).backward_data.flops.value == 10 * 256 * 8 * 3);
    CHECK(work(causal).forward.flops.value == 4 * 256 * 8 * 3);
    CHECK(work(full).executed == 1);
    CHECK(work(causal).executed == 136.0 / 256);
    const double result = 3 * 8 * 16 * 2;
    CHECK(work(causal).forward.compulsory.value == 4 * result);
    CHECK(work(causal).forward.written.value == result);
    CHECK(work(causal).backward_data.compulsory.value == 8 * result);
    CHECK(work(causal).backward_data.written.value == 3 * result);
    CHECK_THROWS_AS(graph.attention("wrong", 0, 3), std::logic_error);
    const int shared = graph.attention("shared", graph.convolution("qkv", 0, 48, {}, false), 4, false, 1);
    const double of_queries = 3 * 32 * 16 * 2;  // and a quarter of that of keys, and of values
    CHECK(work(shared).forward.compulsory.value == 2.5 * of_queries);
    CHECK(work(shared).backward_data.compulsory.value == 5 * of_queries);
    CHECK(work(shared).backward_data.written.value == 1.5 * of_queries);
}

TEST_CASE("an embedding and trained positions move rows, and a layer that shares weights trains none of its own")
{
    Graph graph("tiny", {1, 1, 16});
    const int embedding = graph.embedding("embedding", 0, 100, 8);
    const int positions = graph.positions("positions", embedding);
    const int head = graph.linear_of_positions("head", positions, 100, false, embedding);
    const auto work = [&](int layer) { return work_of(graph, layer, 3, Precision::bf16); };
    const double values = 3 * 16 * 8;
    CHECK(work(embedding).forward.compulsory.value == 3 * 16 * 4 + values * 2 * 2);
    CHECK(work(embedding).backward_weights.flops.value == values);
    CHECK(work(embedding).backward_weights.written.value == values * 4);
    CHECK(work(embedding).backward_weights.compulsory.value == 3 * 16 * 4 + values * 2 + 2 * values * 4);
    CHECK(work(positions).forward.compulsory.value == 2 * values * 2 + 16 * 8 * 2);
    CHECK(work(positions).backward_weights.compulsory.value == values * 2 + 16 * 8 * 4);
    CHECK(work(head).multiply_adds == 3 * 16 * 8 * 100);
    CHECK(work(head).forward.compulsory.value == values * 2 + 800 * 2 + 3 * 16 * 100 * 2);
    CHECK(work(head).update.flops.value == 0);
    CHECK(graph.parameter_count() == 100 * 8 + 16 * 8);
    CHECK(graph.classes() == 100);
    CHECK(graph.labels_each() == 16);
    CHECK(graph.vocabulary() == 100);
    CHECK_THROWS_AS(graph.linear_of_positions("wrong", positions, 99, false, embedding), std::logic_error);
    CHECK_THROWS_AS(graph.linear_of_positions("wrong", positions, 100, false, positions), std::logic_error);
    CHECK_THROWS_AS(graph.embedding("wrong", 0, 10, 8), std::logic_error);
}

TEST_CASE("Vision transformers have torchvision's parameters, and ViT-B/16 the FLOPs of its formula")
{
    CHECK(build_model("vit_b_16").parameter_count() == 86'567'656);
    CHECK(build_model("vit_b_32").parameter_count() == 88'224'232);
    CHECK(build_model("vit_l_16").parameter_count() == 304'326'632);
    CHECK(build_model("vit_l_32").parameter_count() == 306'535'400);
    const double patches = 2.0 * 196 * 768 * 768;
    const double blocks = 12 * (2.0 * 197 * 12 * 768 * 768 + 4.0 * 197 * 197 * 768);
    CHECK(work_of(build_model("vit_b_16"), 1, Precision::fp32).forward.value == patches + blocks + 2.0 * 768 * 1000);
}

TEST_CASE("GPT-2 has the parameters and FLOPs of its formulas, and of PyTorch's counter")
{
    const Graph gpt2 = build_model("gpt2");
    CHECK(gpt2.parameter_count() == 124'439'808);
    CHECK(gpt2.parameters().front().name == "wte.weight");
    CHECK(gpt2.parameters()[3].name == "h.0.ln_1.bias");
    CHECK(build_model("gpt2_medium").parameter_count() == 354'823'168);
    CHECK(build_model("gpt2_large").parameter_count() == 774'030'080);
    CHECK(build_model("gpt2_xl").parameter_count() == 1'557'611'200);

    // torch.utils.flop_counter 2.14.1, 64 tokens: forward, without the products of attention, and those of one of its
    // products.
    const double linear = 2.0 * 64 * (144.0 * 768 * 768 + 768.0 * 50257);
    const double product = 12 * 2.0 * 64 * 64 * 768;
    const StepWork work = work_of(build_model("gpt2", 1000, 64), 1, Precision::fp32);
    CHECK(linear == 10'871'635'968 + 4'940'464'128.0);
    CHECK(2 * product == 150'994'944);
    CHECK(work.forward.value == 15'963'095'040);
    CHECK(work.step().value == 3 * linear + 7 * product);
    CHECK_THROWS_AS(build_model("resnet18", 1000, 64), InputError);
}
