#include "workloads/cudnn/program/shapes.hpp"

namespace roof::cudnn {
namespace {

/// Returns "16x64x56x56".
std::string text_of(int batch, const model::Shape& map)
{
    return std::to_string(batch) + "x" + std::to_string(map.channels) + "x" + std::to_string(map.height) + "x" +
           std::to_string(map.width);
}

}  // namespace

std::string ConvolutionShape::text() const
{
    const std::string size = std::to_string(window.size);
    return text_of(batch, source) + " to " + std::to_string(result.channels) + ", " + size + "x" + size + " stride " +
           std::to_string(window.stride) + " padding " + std::to_string(window.padding) + (bias ? " + bias" : "") +
           (relu ? " + relu" : "") + (prologue ? " of a scaled source" : "") + (statistics ? " + statistics" : "");
}

ConvolutionShape bare(ConvolutionShape shape)
{
    shape.bias = shape.relu = shape.prologue = shape.statistics = false;
    return shape;
}

bool is_bare(const ConvolutionShape& shape)
{
    return !shape.bias && !shape.relu && !shape.prologue && !shape.statistics;
}

ConvolutionShape space_to_depth(ConvolutionShape shape)
{
    const int block = shape.window.stride;
    const int taps = (shape.window.size + block - 1) / block;
    const int channels = block * block * shape.source.channels;
    shape.source = {(channels + 7) / 8 * 8, shape.result.height + taps - 1, shape.result.width + taps - 1};
    shape.window = {.size = taps, .stride = 1, .padding = 0};
    return shape;
}

std::string NormShape::text() const
{
    return text_of(batch, map) + (relu ? ", relu" : "");
}

}  // namespace roof::cudnn
