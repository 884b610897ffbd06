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

std::string NormShape::text() const
{
    return text_of(batch, map) + (relu ? ", relu" : "");
}

}  // namespace roof::cudnn
