#include "workloads/kernels/direct/geometry.hpp"

#include <algorithm>
#include <utility>

namespace roof::kernels {
namespace {

int results_of(const ConvolutionShape& shape, int length)
{
    return (length + 2 * shape.padding - shape.window) / shape.stride + 1;
}

/// The smallest and the largest shift.
std::pair<int, int> extremes(const DirectAxis& axis)
{
    std::pair<int, int> found{0, 0};
    for (const DirectClass& one : axis.classes) {
        for (const DirectAxisTap& tap : one.taps) {
            found.first = std::min(found.first, tap.shift);
            found.second = std::max(found.second, tap.shift);
        }
    }
    return found;
}

}  // namespace

int DirectAxis::most() const  // the first class has the most
{
    return classes.begin()->count;
}

int DirectAxis::low() const
{
    return extremes(*this).first;
}

int DirectAxis::reach() const
{
    return extremes(*this).second - extremes(*this).first + 1;
}

DirectAxis direct_forward_axis(const ConvolutionShape& shape, int length)
{
    DirectAxis axis{.source = length, .result = results_of(shape, length), .step = 1, .advance = shape.stride};
    DirectClass all{.first = 0, .count = axis.result};
    for (int place = 0; place < shape.window; ++place) all.taps.add({place, place - shape.padding});
    axis.classes.add(all);
    return axis;
}

DirectAxis direct_backward_axis(const ConvolutionShape& shape, int length)
{
    DirectAxis axis{.source = results_of(shape, length), .result = length, .step = shape.stride, .advance = 1};
    for (int first = 0; first < std::min(shape.stride, length); ++first) {
        DirectClass one{.first = first, .count = (length - first + shape.stride - 1) / shape.stride};
        for (int place = 0; place < shape.window; ++place) {
            const int distance = first + shape.padding - place;
            if (distance % shape.stride == 0) one.taps.add({place, distance / shape.stride});
        }
        axis.classes.add(one);
    }
    return axis;
}

}  // namespace roof::kernels
