// The shapes of maps, windows and convolutions, and the passes of a layer with weights.
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/precision.hpp"

#include <compare>

namespace roof::model {

/// Shape of one image. The output of a linear layer is {features, 1, 1}.
struct Shape {
    int channels = 0;
    int height = 1;
    int width = 1;

    constexpr long long elements() const { return 1LL * channels * height * width; }
    auto operator<=>(const Shape&) const = default;
};

/// A window. Down and across the map it is the same, unless it has a width.
struct Window {
    int size = 1;
    int stride = 1;
    int padding = 0;
    int dilation = 1;  ///< convolution: distance between the positions that a window reads
    int width = 0;     ///< convolution: its size across the map, with these two; 0: as down
    int stride_across = 1;
    int padding_across = 0;

    constexpr bool is_square() const { return width == 0; }
    /// The square one that is as this is across the map.
    constexpr Window across() const
    {
        return is_square() ? *this : Window{width, stride_across, padding_across, dilation};
    }
    constexpr int taps() const { return size * across().size; }
    /// Positions from the first to the last that a window reads.
    constexpr int extent() const { return dilation * (size - 1) + 1; }
    /// Results along an axis of so many positions.
    constexpr int results(int positions) const { return (positions + 2 * padding - extent()) / stride + 1; }
    constexpr Shape result(const Shape& source, int channels) const
    {
        return {channels, results(source.height), across().results(source.width)};
    }
    auto operator<=>(const Window&) const = default;
};

/// A convolution of a batch. `source` and `result` are shapes of one image.
struct Convolution {
    int batch = 1;
    Shape source, result;
    Window window;
    int groups = 1;  ///< channels are read only within their group

    auto operator<=>(const Convolution&) const = default;
};

enum class Pass { forward, backward_data, backward_weights };
constexpr EnumNames<Pass::backward_weights> names_of(Pass)
{
    return {"pass", {"forward", "backward_data", "backward_weights"}};
}

/// One pass of a convolution, and what else an implementation may compute in the same operation. Sums are fp32.
struct ConvolutionPass : Convolution {
    Pass pass = Pass::forward;
    Precision precision = Precision::fp32;  ///< of the maps; tf32 is stored as fp32
    bool bias = false;  ///< forward: added to each channel; backward_weights on the CPU: its gradient
    bool relu = false;  ///< forward: after the bias
    /// Not backward_data: the source is read as max(source * scale + shift, 0), rounded to the precision.
    bool prologue = false;
    bool statistics = false;  ///< forward: also sums the result and its squares per channel
    bool of_images = false;   ///< the source is the images as they are given, which need no gradient

    auto operator<=>(const ConvolutionPass&) const = default;
};

}  // namespace roof::model
