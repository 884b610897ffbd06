#include "workloads/engine/ir/shapes.hpp"

#include "workloads/engine/ir/tensor.hpp"
#include "workloads/model/work.hpp"

namespace roof::ir {

ConvolutionPass bare(ConvolutionPass shape)
{
    shape.bias = shape.relu = shape.prologue = shape.statistics = false;
    return shape;
}

bool is_bare(const ConvolutionPass& shape)
{
    return !shape.bias && !shape.relu && !shape.prologue && !shape.statistics;
}

ConvolutionPass space_to_depth(ConvolutionPass shape)
{
    const int block = shape.window.stride;
    const int taps = (shape.window.size + block - 1) / block;
    const int channels = block * block * shape.source.channels;
    shape.source = {up_to_multiple(channels, 8), shape.result.height + taps - 1, shape.result.width + taps - 1};
    shape.window = {.size = taps, .stride = 1, .padding = 0};
    return shape;
}

std::string text(const NormShape& shape)
{
    return "batch norm of " + model::text(shape.batch, shape.map) + (shape.relu ? ", relu" : "") +
           (shape.epsilon == engine::batch_norm_epsilon ? "" : ", epsilon " + std::to_string(shape.epsilon));
}

std::string text(const AttentionPass& shape)
{
    const auto number = [](int value) { return std::to_string(value); };
    return "attention of " + number(shape.batch) + "x" + number(shape.positions) + ", " + number(shape.heads) +
           " heads of " + number(shape.channels) +
           (shape.kv_heads == shape.heads ? "" : ", of keys " + number(shape.kv_heads)) +
           (shape.causal ? ", causal" : "");
}

}  // namespace roof::ir
