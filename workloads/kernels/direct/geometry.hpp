// The products of a convolution along one axis, rows or columns, forward or backward to the source. Results with the
// same taps form a class. Forward has one class. Backward with stride s has s, each with a part of the window. A result
// that no window of the forward pass touched has no taps.
#pragma once

#include "workloads/kernels/convolution_shape.hpp"

#include <array>
#include <cstddef>

namespace roof::kernels {

/// A list of at most one entry per window row. It allocates nothing because each pass creates one.
template <class Thing>
class DirectList {
  public:
    void add(const Thing& thing) { things_[count_++] = thing; }
    const Thing* begin() const { return things_.data(); }
    const Thing* end() const { return things_.data() + count_; }

  private:
    std::array<Thing, direct_largest_window> things_{};
    std::size_t count_ = 0;
};

/// Result n of a class reads the source at n * advance + shift, if that is inside the map.
struct DirectAxisTap {
    int place = 0;  ///< index in the window
    int shift = 0;
};

/// The `count` results first, first + step, ...
struct DirectClass {
    int first = 0;
    int count = 0;
    DirectList<DirectAxisTap> taps{};
};

struct DirectAxis {
    int source = 1;  ///< length of the source
    int result = 1;
    int step = 1;     ///< distance between results of a class
    int advance = 1;  ///< distance between their sources
    DirectList<DirectClass> classes{};

    int most() const;   ///< maximum number of results of a class
    int low() const;    ///< the smallest shift, at most 0
    int reach() const;  ///< number of shifts from low() to the largest
    /// Source numbers that `results` results of a class need.
    int span(int results) const { return (results - 1) * advance + reach(); }
};

/// `length`: of the convolution's source.
DirectAxis direct_forward_axis(const ConvolutionShape& shape, int length);
DirectAxis direct_backward_axis(const ConvolutionShape& shape, int length);

}  // namespace roof::kernels
