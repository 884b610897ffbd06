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

Descriptor convolve(const ConvolutionPass& shape, const Descriptor& source, const Descriptor& weights,
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

constexpr std::int64_t number_passing = 100;

/// Operations, and numbers for the tensors between them.
class Operations {
  public:
    explicit Operations(const ConvolutionPass& shape) : shape_(shape), type_(type_of(shape.precision)) {}

    Dimensions source() const
    {
        return {shape_.batch, shape_.source.channels, shape_.source.height, shape_.source.width};
    }
    Dimensions result() const
    {
        return {shape_.batch, shape_.result.channels, shape_.result.height, shape_.result.width};
    }
    Descriptor in_memory(std::int64_t number, const Dimensions& dimensions) const
    {
        return tensor(number, dimensions, type_);
    }
    static Descriptor channels(std::int64_t number, std::int64_t count)
    {
        return tensor(number, {1, count, 1, 1}, CUDNN_DATA_FLOAT);
    }
    Descriptor passing(const Dimensions& dimensions, cudnnDataType_t type = CUDNN_DATA_FLOAT)
    {
        return tensor(number_passing + passing_++, dimensions, type, Residence::passing);
    }
    void add(Descriptor operation) { all_.push_back(std::move(operation)); }
    std::vector<Descriptor> all() && { return std::move(all_); }

    /// The source as the convolution reads it.
    Descriptor read()
    {
        const Descriptor from = in_memory(number_source, source());
        if (!shape_.prologue) return from;
        const Descriptor scale = channels(number_scale, shape_.source.channels);
        const Descriptor shift = channels(number_shift, shape_.source.channels);
        const Descriptor product = passing(source());
        const Descriptor sum = passing(source());
        const Descriptor positive = passing(source(), type_);
        add(pointwise(CUDNN_POINTWISE_MUL, from, &scale, product));
        add(pointwise(CUDNN_POINTWISE_ADD, product, &shift, sum));
        add(pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, positive));
        return positive;
    }

    void sum_up(const Descriptor& from)
    {
        constexpr cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
        Descriptor operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
        add(operation.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, &mode)
                .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
                .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, from)
                .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, channels(number_sum, shape_.result.channels))
                .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, channels(number_squares, shape_.result.channels))
                .finish());
    }

  private:
    const ConvolutionPass& shape_;
    cudnnDataType_t type_;
    std::int64_t passing_ = 0;
    std::vector<Descriptor> all_;
};

}  // namespace

std::vector<Descriptor> operations_of(const ConvolutionPass& shape)
{
    Operations operations(shape);
    const Descriptor source = operations.read();
    const Descriptor weights = operations.in_memory(
        number_weights, {shape.result.channels, shape.source.channels, shape.window.size, shape.window.size});
    const Descriptor last = operations.in_memory(number_result, operations.result());
    Descriptor so_far = shape.bias || shape.relu ? operations.passing(operations.result()) : last;
    operations.add(convolve(shape, source, weights, so_far));
    if (shape.bias) {
        const Descriptor bias = operations.in_memory(number_bias, {1, shape.result.channels, 1, 1});
        const Descriptor sum = shape.relu ? operations.passing(operations.result()) : last;
        operations.add(pointwise(CUDNN_POINTWISE_ADD, so_far, &bias, sum));
        so_far = sum;
    }
    if (shape.relu) operations.add(pointwise(CUDNN_POINTWISE_RELU_FWD, so_far, nullptr, last));
    if (shape.statistics) operations.sum_up(last);
    return std::move(operations).all();
}

Descriptor convolution_graph(const ConvolutionPass& shape)
{
    return graph_of(operations_of(shape));
}

}  // namespace roof::cudnn
