// Which products a convolution's definition has, one way of a map: the same for rows and for columns, forward and
// backward to the source. Results that share their taps are a class: forward there is one; backward with stride s
// there are s, each taking a part of the window, and a result that no window of the forward pass has touched has no
// taps at all.
#pragma once

#include "workloads/kernels/convolution_shape.hpp"

#include <array>
#include <cstddef>

namespace roof::kernels {

/// As many as a window has rows, at most; without memory of its own, for it is made at each pass.
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

/// The n-th result of a class takes the source at n * advance + shift, if that is inside the map.
struct DirectAxisTap {
    int place = 0;  ///< in the window
    int shift = 0;
};

/// The results first, first + step, ... of which there are `count`.
struct DirectClass {
    int first = 0;
    int count = 0;
    DirectList<DirectAxisTap> taps{};
};

struct DirectAxis {
    int source = 1;  ///< its length
    int result = 1;
    int step = 1;     ///< from one result of a class to the next
    int advance = 1;  ///< from the source of one to that of the next
    DirectList<DirectClass> classes{};

    int most() const;   ///< results of a class
    int low() const;    ///< the least shift of all, or 0
    int reach() const;  ///< from that to the greatest, both counted
    /// Numbers of the source that so many results of a class need.
    int span(int results) const { return (results - 1) * advance + reach(); }
};

/// Of `length` numbers of the convolution's source.
DirectAxis direct_forward_axis(const ConvolutionShape& shape, int length);
DirectAxis direct_backward_axis(const ConvolutionShape& shape, int length);

}  // namespace roof::kernels
