#include "workloads/engine/layers/builder.hpp"

#include "workloads/parallel/exchange.hpp"

#include <algorithm>
#include <array>

namespace roof::ir {

namespace {

int image_block_of(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
{
    const model::Shape& image = graph.layer(0).output;
    const std::vector<int> reading = readers(graph, 0);
    if (!choosers.deep_images || image.channels != 3 || reading.size() != 1) return 0;
    const model::Layer& first = graph.layer(reading.front());
    const int stride = first.window.stride;
    constexpr std::array strides{1, 2, 4, 16, 32};  // the last two of patches
    const bool is_possible =
        std::ranges::find(strides, stride) != strides.end() && first.groups == 1 && first.window.dilation == 1;
    if (first.kind != model::LayerKind::convolution || !is_possible) return 0;
    const bool deep = choosers.deep_images(
        {model::convolution_of(graph, reading.front(), settings.batch), Pass::forward, settings.precision});
    return deep ? stride : 0;
}

}  // namespace

Work to_work(const model::PassWork& work)
{
    return {.flops = work.flops, .compulsory = {}, .no_reuse = work.no_reuse};
}

Builder::Builder(const model::Graph& network, const Settings& chosen, const Choosers& who, Program& into)
    : graph(network),
      settings(chosen),
      choosers(who),
      program(into),
      image_block(image_block_of(network, chosen, who)),
      parameters(network, chosen, image_block, who.outputs_multiple, into),
      outputs(network.layers().size()),
      shares_(network.layers().size())
{
    Tensor planar = map(0);
    planar.precision = Precision::fp32;
    images = program.resident(planar);
    const int positions = settings.batch * graph.labels_each();
    const Tensor numbers{.batch = 1, .channels = positions, .precision = Precision::int32};
    labels_given = program.resident(numbers);
    labels = program.resident(numbers);
    row_losses = program.resident({.batch = 1, .channels = positions});
}

Tensor Builder::map(int index) const
{
    return maps_of(settings.batch, graph.layer(index).output, settings.storage());
}

void Builder::begin(const std::vector<int>& layers, Phase phase)
{
    std::vector<std::string> names;
    for (const int index : layers) names.push_back(graph.layer(index).name);
    program.begin(join(names, "+"), std::string(name(graph.layer(layers.front()).kind)), phase);
}

void Builder::begin_with_work(const Unit& unit, Phase phase, Flops executed)
{
    const model::LayerWork of_layer = work(unit.layer);
    begin(unit, phase);
    Work done = to_work(phase == Phase::forward ? of_layer.forward : of_layer.backward_data);
    if (!model::is_contraction(layer(unit).kind)) done.no_reuse = {};
    done.executed = executed;
    if (executed.value <= 0 && of_layer.executed < 1) done.executed = done.flops * of_layer.executed;
    program.add_work(done);
    if (phase == Phase::forward && unit.fused()) add_flops(work(unit.relu).forward.flops);
}

void Builder::write_simple(const Unit& unit, const std::function<Tensor(const Tensor&)>& forward,
                           const std::function<Tensor(const Share&)>& backward)
{
    begin_with_work(unit, Phase::forward);
    put(unit, forward(input(unit)));
    tape.emplace_back([=, this] {
        begin_with_work(unit, Phase::backward);
        give(source(unit), {backward(gradient(unit.layer))});
    });
}

void Builder::pass_through(const Unit& unit)
{
    put(unit, input(unit));
    tape.emplace_back([=, this] { give(source(unit), gradient(unit.layer)); });
}

Tensor Builder::gradient_like(int index)
{
    Tensor made = program.tensor(map(index));
    made.like = output(index).tensor.block;
    return made;
}

void Builder::put(const Unit& unit, const Tensor& tensor)
{
    output(unit.layer).tensor = tensor;
    output(unit.last()).tensor = tensor;
}

std::vector<Builder::Share> Builder::shares(int layer, std::size_t most)
{
    std::vector<Share> all = shares_[static_cast<std::size_t>(layer)];
    for (Share& share : all) share.tensor.like = output(layer).tensor.block;
    while (all.size() > most) {
        const std::vector<Share> pair{all[all.size() - 2], all.back()};
        const Tensor sum = over(pair);
        add_flops(Flops{static_cast<double>(sum.elements())});
        program.append(
            MaskGradient{.share = pair[0].tensor, .other_share = pair[1].tensor, .output = {}, .result = sum},
            "roof:sum");
        all.pop_back();
        all.back() = {sum};
    }
    return all;
}

Tensor Builder::over(const std::vector<Share>& shares)
{
    for (const Share& share : shares) {
        if (!share.shared) return share.tensor;
    }
    return program.tensor(shares.front().tensor);
}

void Builder::completed(int layer, bool is_bias)
{
    if (is_bias || graph.layer(layer).weights_of < 0) program.completes(parameters.index_of(layer, is_bias));
}

void Builder::widen_later(const Tensor& narrow, int layer)
{
    waiting.emplace_back(narrow, layer);
    std::size_t bytes = 0;
    for (const auto& [tensor, of] : waiting) bytes += tensor.elements() * sizeof(float);
    // Other ranks wait for the first of them; one rank alone waits for none.
    const bool is_bucket = settings.share().ranks > 1 && bytes >= parallel::first_bucket_bytes;
    if (is_bucket || waiting.size() == Widen::most) widen_waiting();
}

void Builder::widen_waiting()
{
    if (waiting.empty()) return;
    Widen all;
    for (const auto& [narrow, layer] : waiting) {
        all.from.push_back(narrow);
        all.to.push_back(parameters.of(layer, false).gradient);
        completed(layer, false);
    }
    program.append(all, "roof:widen");
    waiting.clear();
}

void append_product(Program& program, const Choosers& choosers, Precision precision, Multiply product)
{
    const Tensor written = product.written();
    const AddBias apart{written, product.bias, product.relu};
    const Choice choice = choosers.product(
        {.pass = product.pass,
         .batch = product.source.batch,
         .inputs = static_cast<int>(product.source.elements() / static_cast<std::size_t>(product.source.batch)),
         .outputs = product.result.channels,
         .precision = precision,
         .result_precision = written.precision,
         .bias = static_cast<bool>(product.bias),
         .relu = product.bias && product.relu,
         .adds = product.adds});
    const bool is_fused = product.bias && choice.fused;
    if (!is_fused) {
        product.bias = {};
        product.relu = false;
    }
    product.plan = choice.plan;
    product.rounded = precision == Precision::tf32;
    product.workspace = program.scratch(choice.workspace);
    program.append(product, choice.implementation);
    if (!is_fused && (apart.bias || apart.relu)) program.append(apart, "roof:bias");
}

}  // namespace roof::ir
