// A value of an ONNX file that is a layer's output in another shape or with its channels in another order. Nothing is
// computed until a layer reads it.
#pragma once

#include "workloads/model/onnx_node.hpp"

#include <vector>

namespace roof::model::onnx_file {

struct View {
    int layer = 0;
    Numbers dims;              ///< without the batch: {channels, height, width}, {features}, or any other
    std::vector<int> order{};  ///< for each channel, that of the layer's output; empty: as they are
    std::string name{};        ///< of the operator that made the view
};

/// The view in the shape that Reshape names: the batch, then sizes, one of which may be -1; 0 keeps that of the view.
/// `batch`: the number of images as the file has it. Throws Refused.
View reshaped(View view, const Numbers& to, long long batch);
/// The view with its axes permuted; perm[0] is the batch. `map`: the layer's output. Only whole channels can move.
View transposed(View view, const Numbers& perm, const Shape& map);
/// Without axes of size 1, or with them. `axes` count the batch; negative ones count from the end of the result.
View squeezed(View view, const Numbers& axes);
View unsqueezed(View view, Numbers axes);

}  // namespace roof::model::onnx_file
