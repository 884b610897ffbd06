// Batch norm in training mode and the ReLU after it:  y = g * (x - m) / sqrt(v + eps) + b, where m and v are a
// channel's mean and (biased) variance over the batch or over the batches of all ranks. At the end of a residual block
// one stage computes the sum, its ReLU and its batch norms (two if the shortcut has one). Training also updates the
// running statistics, which it does not read:
//   running = 0.9 * running + 0.1 * {m, v * n / (n - 1)}, n values per channel
#include "workloads/onednn/layers/batch_norm_passes.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

/// The batch norms of a stage, and the sum and ReLU computed with them.
struct FusedNorms {
    std::vector<int> norms;
    int sum = -1;     ///< -1: none
    int relu = -1;    ///< -1: none
    int addend = -1;  ///< the sum's other input; -1: a second norm

    std::vector<int> layers() const
    {
        std::vector<int> all = norms;
        for (const int layer : {sum, relu}) {
            if (layer >= 0) all.push_back(layer);
        }
        return all;
    }
    int last() const { return layers().back(); }
};

Norm describe(Builder& build, int layer)
{
    const Dims channels{build.graph.layer(layer).output.channels};
    const Tensor given = build.outputs[static_cast<std::size_t>(build.source({.layer = layer}))];
    Norm norm;
    norm.source =
        channel_map(given.desc()) ? given : build.program.in_layout(given, with_channels_together(given.desc()));
    norm.map = channel_map(norm.source.desc()).value();
    norm.scale = build.train(layer, false, plain(channels), channels);
    norm.shift = build.train(layer, true, plain(channels), channels);
    if (build.settings.synchronised_batch_norm) norm.ranks = build.settings.ranks;
    norm.epsilon = build.graph.layer(layer).epsilon;
    const Dim ranks = norm.ranks == nullptr ? 1 : norm.ranks->size;
    norm.values = static_cast<double>(norm.map.images * norm.map.positions * ranks);
    norm.factors = build.program.tensor(plain({factor_rows, norm.map.groups() * norm.map.together}));
    build.running.push_back({build.graph.layer(layer).name, build.program.resident(plain(channels)),
                             build.program.resident(plain(channels))});
    norm.running = build.running.back();
    return norm;
}

/// The work of a pass that reads and writes so many maps: what one layer writes and the next one reads is not moved.
Work work_of(const Builder& build, const FusedNorms& fused, model::PassWork model::LayerWork::*pass, std::size_t read,
             std::size_t written)
{
    const bool backward = pass == &model::LayerWork::backward_data;
    const model::Shape& map = build.graph.layer(fused.last()).output;
    const Bytes each{static_cast<double>(build.settings.batch * map.elements()) *
                     traits(build.settings.precision).storage_bytes};
    const Bytes trained{static_cast<double>(fused.norms.size()) * 2 * map.channels * sizeof(float)};
    Work work{};
    for (const int layer : fused.layers())
        if (!backward || layer != fused.sum) work.flops += (build.work(layer).*pass).flops;
    work.read = each * static_cast<double>(read) + trained;
    work.written = each * static_cast<double>(written) + (backward ? trained : Bytes{});
    work.compulsory = work.no_reuse = work.read + work.written;
    return work;
}

std::string implementation(const NormSum& sum, bool is_sum)
{
    return std::string("roof:batch_norm") + (is_sum ? "+sum" : "") + (sum.relu ? "+relu" : "") + ":" +
           sum.norms.front().map.loops->name;
}

std::vector<Tensor> tensors_of(const NormSum& sum)
{
    std::vector<Tensor> all;
    for (const Norm& norm : sum.norms)
        all.insert(all.end(), {norm.source, norm.factors, norm.scale.value, norm.shift.value});
    all.push_back(sum.addend);
    return all;
}

NormSum forward(Builder& build, const FusedNorms& fused)
{
    build.begin(fused.layers(), Phase::forward);
    NormSum sum;
    sum.relu = fused.relu >= 0;
    for (const int layer : fused.norms) sum.norms.push_back(describe(build, layer));
    const Desc layout = sum.norms.front().source.desc();
    if (sum.norms.size() == 2) {
        sum.norms[1].source = build.program.in_layout(sum.norms[1].source, layout);
        sum.norms[1].map = sum.norms[0].map;
    }
    if (fused.addend >= 0)
        sum.addend = build.program.in_layout(build.outputs[static_cast<std::size_t>(fused.addend)], layout);
    sum.result = build.program.tensor(layout);
    const std::size_t read = fused.norms.size() + (sum.addend ? 1 : 0);
    build.program.add_work(work_of(build, fused, &model::LayerWork::forward, read, 1));
    std::vector<Tensor> used = tensors_of(sum);
    used.push_back(sum.result);
    build.program.append([sum] { run_forward(sum); }, used, implementation(sum, fused.sum >= 0));
    for (const int layer : fused.layers()) build.outputs[static_cast<std::size_t>(layer)] = sum.result;
    return sum;
}

void append_backward(Builder& build, const FusedNorms& fused, const NormSum& sum, const NormSumGradient& gradient)
{
    std::vector<Tensor> used = tensors_of(sum);
    used.insert(used.end(), {gradient.first, gradient.second, gradient.sum, gradient.sum ? sum.result : Tensor{}});
    used.insert(used.end(), gradient.to_sources.begin(), gradient.to_sources.end());
    build.program.append([=] { run_backward(sum, gradient); }, used, implementation(sum, fused.sum >= 0));
    for (std::size_t k = 0; k < fused.norms.size(); ++k)
        build.give(build.source({.layer = fused.norms[k]}), {gradient.to_sources[k]});
}

void backward(Builder& build, const FusedNorms& fused, const NormSum& sum)
{
    build.begin(fused.layers(), Phase::backward);
    build.program.add_work(work_of(build, fused, &model::LayerWork::backward_data, 2, 1));
    const Gradient given = build.gradient(fused.last());
    const Tensor to_source = build.over(given);
    append_backward(build, fused, sum, {.first = given.tensor, .to_sources = {to_source}});
}

/// All inputs of the sum share its gradient. The last norm's gradient overwrites it if nothing else reads it.
void backward_of_sum(Builder& build, const FusedNorms& fused, const NormSum& sum)
{
    build.begin(fused.layers(), Phase::backward);
    const std::vector<Gradient> given = build.shares(fused.relu, 2);
    const std::size_t norms = fused.norms.size();
    build.program.add_work(
        work_of(build, fused, &model::LayerWork::backward_data, given.size() + 1 + norms, 1 + norms));
    const Gradient& own = given.back();
    const Tensor before_relu = build.over(own);
    NormSumGradient gradient{.first = own.tensor, .sum = before_relu};
    if (given.size() == 2) {
        gradient.second = given.front().tensor;
        build.add_flops(Flops{static_cast<double>(sum.result.stored())});
    }
    for (std::size_t k = 0; k < fused.norms.size(); ++k) {
        const bool in_place = fused.addend < 0 && k + 1 == fused.norms.size();
        gradient.to_sources.push_back(in_place ? before_relu : build.program.tensor(before_relu.desc()));
    }
    append_backward(build, fused, sum, gradient);
    if (fused.addend >= 0) build.give(fused.addend, {before_relu});
}

/// True if the batch norm is computed with a sum behind it.
bool goes_with_sum(const model::Graph& graph, int layer)
{
    if (graph.layer(layer).kind != model::LayerKind::batch_norm) return false;
    const std::vector<int> reading = readers(graph, layer);
    if (reading.size() != 1 || graph.layer(reading.front()).kind != model::LayerKind::add) return false;
    const std::vector<int>& inputs = graph.layer(reading.front()).inputs;
    return relu_behind(graph, reading.front()) >= 0 && inputs[0] != inputs[1];
}

}  // namespace

void batch_norm(Builder& build, const Unit& unit)
{
    if (goes_with_sum(build.graph, unit.layer)) return;
    const FusedNorms fused{.norms = {unit.layer}, .relu = unit.relu};
    const NormSum sum = forward(build, fused);
    build.tape.emplace_back([=, &build] { backward(build, fused, sum); });
}

bool sum_of_batch_norms(Builder& build, const Unit& unit)
{
    FusedNorms fused{.norms = {}, .sum = unit.layer, .relu = unit.relu};
    for (const int input : build.layer(unit).inputs) {
        if (goes_with_sum(build.graph, input))
            fused.norms.push_back(input);
        else
            fused.addend = input;
    }
    if (fused.norms.empty()) return false;
    const NormSum sum = forward(build, fused);
    build.tape.emplace_back([=, &build] { backward_of_sum(build, fused, sum); });
    return true;
}

}  // namespace roof::onednn
