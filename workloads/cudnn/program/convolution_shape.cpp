#include "workloads/cudnn/program/convolution_shape.hpp"

#include <array>

namespace roof::cudnn {

std::string_view name(Pass pass)
{
    constexpr std::array<std::string_view, 3> names{"forward", "backward_data", "backward_weights"};
    return names[static_cast<std::size_t>(pass)];
}

std::string ConvolutionShape::text() const
{
    const auto word = [](int value) { return std::to_string(value); };
    return word(batch) + "x" + word(source.channels) + "x" + word(source.height) + "x" + word(source.width) + " to " +
           word(result.channels) + ", " + word(window.size) + "x" + word(window.size) + " stride " +
           word(window.stride) + " padding " + word(window.padding) + (bias ? " + bias" : "") + (relu ? " + relu" : "");
}

}  // namespace roof::cudnn
