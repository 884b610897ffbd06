// A value of an ONNX file that is a layer's output in another shape: its axes cut, joined, permuted or cut short.
#pragma once

#include "workloads/model/onnx_node.hpp"

#include <string>
#include <vector>

namespace roof::model::onnx_file {

/// `extent` images, channels or positions (row by row) of a layer's output, `stride` apart.
struct Part {
    enum class Of { images, channels, positions } of;
    long long extent, stride = 1;
    bool operator==(const Part&) const = default;
};
using Parts = std::vector<Part>;  ///< of an axis, the outermost first; none: an axis of 1

struct View {
    int layer = 0;
    std::vector<Parts> axes{};
    long long channel = 0, position = 0;  ///< the first that it has
    double factor = 1;                    ///< by which its values are multiplied
    std::vector<int> order{};             ///< of the positions that parts count, those of the layer; none: the same
    std::string name{};                   ///< of the operator that made it

    /// The whole output of a layer as [images][channels][height][width]; `axes`: 2 for [images][channels].
    static View of(int layer, const Shape& shape, long long images, std::size_t axes = 4);
    Numbers dims() const;
    /// All parts in their order; those that follow one another in the layer's output as one.
    Parts parts() const;
    /// The channels or positions that it has.
    long long count(Part::Of of) const;
};

/// Neighbours that follow one another as one, and none of one place.
Parts joined(const Parts& parts);

/// The parts of one kind, in their order.
Parts parts_of(const View& view, Part::Of kind);
/// Whether they are neighbours in the layer's output, in its order.
bool are_together(const Parts& parts);
/// For each channel or position of the parts, from `first` on and in their order, that of the layer's output.
std::vector<int> order_of(const Parts& parts, int first = 0);
/// Of the layer, in the order of the view's.
std::vector<int> positions_of(const View& view);
/// Counts its channels or positions from 0 in its order; `order`: of the positions, as View has it.
void renumber(View& view, Part::Of kind, std::vector<int> order = {});

/// The axis from the front; a negative one counts from the end. Throws Refused if there is none.
std::size_t axis_of(long long axis, std::size_t axes);

// The view that an operator makes of another. Axes count the images, negative ones from the end. They throw Refused.

/// The extents that Reshape makes of others: one of `to` may be -1; 0 keeps an axis.
Numbers reshaped(const Numbers& from, const Numbers& to);
View reshaped(View view, const Numbers& to);
View transposed(View view, const Numbers& perm);
/// Without axes of 1; all of them where none is given.
View squeezed(View view, const Numbers& axes);
/// With axes of 1; `axes` as those of the result.
View unsqueezed(View view, Numbers axes);
/// The places first, first + step, ... before `end` of an axis.
View sliced(View view, long long axis, long long first, long long end, long long step = 1);

}  // namespace roof::model::onnx_file
