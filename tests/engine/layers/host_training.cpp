#include "tests/engine/layers/host_training.hpp"

#include "tests/engine/layers/host_values.hpp"
#include "workloads/data/source.hpp"
#include "workloads/model/hashed.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace roof::ir {
namespace {

/// As cudaMalloc aligns what it returns.
constexpr std::size_t alignment = 256;

std::byte* aligned(std::byte* at)
{
    return at + (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
}

}  // namespace

Choosers loops(bool fused, bool whole_norms)
{
    return {[fused](const ConvolutionPass&) {
                return Choice{
                    .plan = 0, .workspace = 0, .implementation = "loops", .algorithm = "gemm", .fused = fused};
            },
            [fused](const Product&) {
                return Choice{.plan = 0, .workspace = 0, .implementation = "loops", .algorithm = {}, .fused = fused};
            },
            [whole_norms](const NormShape&) {
                return Choice{.plan = whole_norms ? 0 : -1, .workspace = 0, .implementation = "loops", .algorithm = {}};
            }};
}

Choosers loops_of_moments()
{
    Choosers choosers = loops(false);
    choosers.product = loops(true).product;
    choosers.moments = [](const ConvolutionPass&) { return true; };
    return choosers;
}

std::vector<float> in_pytorch_order(const Trained& trained, std::span<const float> stored)
{
    std::vector<float> values(trained.given);
    for (std::size_t i = 0; i < trained.count; ++i) {
        if (const auto place = trained.pytorch_place(i)) values[*place] = stored[trained.first + i];
    }
    return values;
}

HostTraining::HostTraining(const model::Graph& graph, const Settings& settings, bool fused, bool whole_norms)
    : HostTraining(graph, settings, loops(fused, whole_norms))
{
}

HostTraining::HostTraining(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
    : list_(write_step(graph, settings, choosers)),
      bytes_(list_.bytes + alignment),
      memory_(list_, aligned(bytes_.data()))
{
    *memory_.state() = first_state(settings);
    for_initial_values(list_, graph, settings, [&](const Trained& trained, const std::vector<float>& values) {
        for (const Tensor& tensor : {trained.value, trained.read}) {
            Values stored(memory_, tensor);
            for (std::size_t i = 0; i < values.size(); ++i) stored.put(i, values[i]);
        }
    });
    for (const auto& [tensor, numbers] : list_.constants())
        std::ranges::copy(numbers, memory_.at<std::int32_t>(tensor));
    for (std::size_t k = 0; k < list_.caches.size(); ++k) {
        std::vector<float> numbers(list_.caches[k].elements());
        model::hashed_cache(static_cast<int>(k)).fill(numbers);
        Values cache(memory_, list_.caches[k]);
        for (std::size_t i = 0; i < numbers.size(); ++i) cache.put(i, numbers[i]);
    }
    for (const Running& one : list_.running)
        std::fill_n(memory_.at<float>(one.variance), one.variance.elements(), 1.0F);
    const Tensor& images = list_.images;
    data::Source source =
        data::open_source("hashed", settings.batch, data::Form::of(graph), 1, engine::data_seed, settings.share());
    const data::Batch batch = source.next();
    std::copy_n(batch.images, images.elements(), memory_.at<float>(images));
    std::copy_n(batch.labels, list_.labels.elements(), memory_.at<std::int32_t>(list_.labels));
}

double HostTraining::differentiate(const std::function<void(std::size_t parameter)>& ready)
{
    for (const Program::Stage& stage : list_.stages()) {
        if (stage.part.phase == Phase::update) continue;
        run_on_host(stage, memory_);
        if (ready) std::ranges::for_each(stage.ready, ready);
    }
    return memory_.state()->loss;
}

double HostTraining::loss()
{
    for (const Program::Stage& stage : list_.stages())
        if (stage.part.phase == Phase::forward) run_on_host(stage, memory_);
    return memory_.state()->loss;
}

void HostTraining::update()
{
    std::vector<Tensor> others;
    for (const Program::Stage& stage : list_.stages()) {
        if (stage.part.phase != Phase::update) continue;
        for (const Operation& operation : stage.operations)
            if (const auto* const one = std::get_if<DescendProduct>(&operation)) others.push_back(one->values);
        run_on_host(stage, memory_, others);
    }
}

std::vector<float> HostTraining::numbers(const Tensor& tensor) const
{
    const float* const begin = memory_.at<float>(tensor);
    return {begin, begin + tensor.elements()};
}

std::vector<float> HostTraining::value(std::size_t parameter) const
{
    return in_pytorch_order(list_.parameters.all()[parameter], numbers(list_.parameters.values));
}

std::vector<float> HostTraining::gradient(std::size_t parameter) const
{
    return in_pytorch_order(list_.parameters.all()[parameter], numbers(list_.parameters.gradients));
}

}  // namespace roof::ir
