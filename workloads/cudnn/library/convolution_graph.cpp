#include "workloads/cudnn/library/convolution_graph.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <array>

namespace roof::cudnn {
namespace {

Descriptor window_of(const model::Window& window)
{
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const std::vector<std::int64_t> padding{window.padding, window.padding};
    Descriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding)
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::vector<std::int64_t>{1, 1})
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::vector<std::int64_t>{window.stride, window.stride});
    return made.finish();
}

/// Attribute names, which differ between the three kinds of operation.
struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t window, source, weights, result, alpha, beta;
};

Names names_of(Pass pass)
{
    switch (pass) {
        case Pass::forward:
            return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
        case Pass::backward_data:
            return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
        case Pass::backward_weights:
            break;
    }
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

Descriptor convolve(const ConvolutionShape& shape, const Descriptor& source, const Descriptor& weights,
                    const Descriptor& result)
{
    // Use floats, as for the sums. With doubles, many engines read only the lower half, which is 0.
    constexpr float alpha = 1;
    constexpr float beta = 0;
    const Names names = names_of(shape.pass);
    Descriptor operation(names.operation);
    return operation.set(names.window, window_of(shape.window))
        .set(names.source, source)
        .set(names.weights, weights)
        .set(names.result, result)
        .set(names.alpha, alpha)
        .set(names.beta, beta)
        .finish();
}

}  // namespace

std::vector<Descriptor> operations_of(const ConvolutionShape& shape)
{
    constexpr std::int64_t number_passing = 100;
    const cudnnDataType_t type = type_of(shape.precision);
    const Dimensions result{shape.batch, shape.result.channels, shape.result.height, shape.result.width};
    const Descriptor source =
        tensor(number_source, {shape.batch, shape.source.channels, shape.source.height, shape.source.width}, type);
    const Descriptor weights = tensor(
        number_weights, {shape.result.channels, shape.source.channels, shape.window.size, shape.window.size}, type);
    const Descriptor last = tensor(number_result, result, type);
    if (!shape.bias && !shape.relu) return {convolve(shape, source, weights, last)};

    std::vector<Descriptor> operations;
    Descriptor so_far = tensor(number_passing, result, CUDNN_DATA_FLOAT, Residence::passing);
    operations.push_back(convolve(shape, source, weights, so_far));
    if (shape.bias) {
        const Descriptor bias = tensor(number_bias, {1, shape.result.channels, 1, 1}, type);
        const Descriptor sum =
            shape.relu ? tensor(number_passing + 1, result, CUDNN_DATA_FLOAT, Residence::passing) : last;
        operations.push_back(pointwise(CUDNN_POINTWISE_ADD, so_far, &bias, sum));
        so_far = sum;
    }
    if (shape.relu) operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, so_far, nullptr, last));
    return operations;
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionShape& shape) : graph_(graph_of(operations_of(shape))) {}

std::vector<Engine> ConvolutionGraph::engines(const Descriptor& device) const
{
    return engines_for(graph_, device);
}

}  // namespace roof::cudnn
