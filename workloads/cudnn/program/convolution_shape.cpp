#include "workloads/cudnn/program/convolution_shape.hpp"

namespace roof::cudnn {

std::string ConvolutionShape::text() const
{
    const auto word = [](int value) { return std::to_string(value); };
    return word(batch) + "x" + word(source.channels) + "x" + word(source.height) + "x" + word(source.width) + " to " +
           word(result.channels) + ", " + word(window.size) + "x" + word(window.size) + " stride " +
           word(window.stride) + " padding " + word(window.padding) + (bias ? " + bias" : "") + (relu ? " + relu" : "");
}

}  // namespace roof::cudnn
