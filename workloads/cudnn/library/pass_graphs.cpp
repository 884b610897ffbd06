#include "workloads/cudnn/library/pass_graphs.hpp"

#include <array>

namespace roof::cudnn {
namespace {

Descriptor window_of(const model::Window& window)
{
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const model::Window across = window.across();
    const std::vector<std::int64_t> padding{window.padding, across.padding};
    Descriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding)
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::vector<std::int64_t>{window.dilation, window.dilation})
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::vector<std::int64_t>{window.stride, across.stride});
    return made.finish();
}

/// Attribute names, which differ between the three kinds of operation: by pass.
struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t window, source, weights, result, alpha, beta;
};

constexpr std::array<Names, 3> names_of_pass{
    {{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
     {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
     {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}}};

Descriptor convolve(const ConvolutionPass& shape, const Descriptor& source, const Descriptor& weights,
                    const Descriptor& result)
{
    // Use floats, as for the sums. With doubles, many engines read only the lower half, which is 0.
    constexpr float alpha = 1;
    constexpr float beta = 0;
    const Names& names = names_of_pass[static_cast<std::size_t>(shape.pass)];
    Descriptor operation(names.operation);
    return operation.set(names.window, window_of(shape.window))
        .set(names.source, source)
        .set(names.weights, weights)
        .set(names.result, result)
        .set(names.alpha, alpha)
        .set(names.beta, beta)
        .finish();
}

/// The tensors of a graph: maps in one precision, values per channel in fp32.
class Tensors {
  public:
    Tensors(int batch, Precision precision) : batch_(batch), type_(type_of(precision)) {}

    Descriptor map(std::int64_t number, const model::Shape& of) const { return tensor(number, extents(of), type_); }
    static Descriptor channels(std::int64_t number, std::int64_t count)
    {
        return tensor(number, {1, count, 1, 1}, CUDNN_DATA_FLOAT);
    }
    static Descriptor argument(std::int64_t number)
    {
        return tensor(number, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, Residence::argument);
    }
    /// Between two operations, in fp32 or rounded.
    Descriptor passing(const model::Shape& of, bool is_rounded = false)
    {
        return tensor(next_++, extents(of), is_rounded ? type_ : CUDNN_DATA_FLOAT, Residence::passing);
    }

  private:
    Dimensions extents(const model::Shape& of) const { return {batch_, of.channels, of.height, of.width}; }

    int batch_;
    cudnnDataType_t type_;
    std::int64_t next_ = first_passing;
};

/// Returns the source as the convolution reads it.
Descriptor read_source(const ConvolutionPass& shape, Tensors& tensors, std::vector<Descriptor>& operations)
{
    const Descriptor from = tensors.map(number_source, shape.source);
    if (!shape.prologue) return from;
    const Descriptor scale = Tensors::channels(number_scale, shape.source.channels);
    const Descriptor shift = Tensors::channels(number_shift, shape.source.channels);
    const Descriptor product = tensors.passing(shape.source);
    const Descriptor sum = tensors.passing(shape.source);
    const Descriptor positive = tensors.passing(shape.source, true);
    operations.push_back(pointwise(CUDNN_POINTWISE_MUL, {from, scale}, product));
    operations.push_back(pointwise(CUDNN_POINTWISE_ADD, {product, shift}, sum));
    operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, {sum}, positive));
    return positive;
}

Descriptor sums_of(const Descriptor& from, int channels)
{
    constexpr cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
    Descriptor operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
    return operation.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, &mode)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, Tensors::channels(number_sum, channels))
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, Tensors::channels(number_squares, channels))
        .finish();
}

constexpr cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;

Descriptor normalise(const NormShape& shape, const Descriptor& source, const Descriptor& to)
{
    const auto channels = [&](std::int64_t number) { return Tensors::channels(number, shape.map.channels); };
    constexpr cudnnBackendNormFwdPhase_t training = CUDNN_NORM_FWD_TRAINING;
    Descriptor made(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    return made.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, &training)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, source)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, channels(norm_weight))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, channels(norm_bias))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, Tensors::argument(norm_epsilon))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, Tensors::argument(norm_share))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, channels(norm_running_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, channels(norm_running_variance))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, channels(norm_next_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, channels(norm_next_variance))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, channels(norm_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, channels(norm_inverse_deviation))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, to)
        .finish();
}

Descriptor differentiate(const NormShape& shape, const Descriptor& source, const Descriptor& gradient,
                         const Descriptor& to)
{
    const auto channels = [&](std::int64_t number) { return Tensors::channels(number, shape.map.channels); };
    Descriptor made(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
    return made.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, source)
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, channels(norm_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, channels(norm_inverse_deviation))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, gradient)
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, channels(norm_weight))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, channels(norm_sum_of_products))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, channels(norm_sum))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, to)
        .finish();
}

}  // namespace

std::vector<Descriptor> operations_of(const ConvolutionPass& shape)
{
    Tensors tensors(shape.batch, shape.precision);
    std::vector<Descriptor> operations;
    const Descriptor source = read_source(shape, tensors, operations);
    const Descriptor weights = tensor(
        number_weights,
        {shape.result.channels, shape.source.channels / shape.groups, shape.window.size, shape.window.across().size},
        type_of(shape.precision));
    const Descriptor last = tensors.map(number_result, shape.result);
    Descriptor so_far = shape.bias || shape.relu ? tensors.passing(shape.result) : last;
    operations.push_back(convolve(shape, source, weights, so_far));
    if (shape.bias) {
        const Descriptor bias = tensor(number_bias, {1, shape.result.channels, 1, 1}, type_of(shape.precision));
        const Descriptor sum = shape.relu ? tensors.passing(shape.result) : last;
        operations.push_back(pointwise(CUDNN_POINTWISE_ADD, {so_far, bias}, sum));
        so_far = sum;
    }
    if (shape.relu) operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, {so_far}, last));
    if (shape.statistics) operations.push_back(sums_of(last, shape.result.channels));
    return operations;
}

Descriptor convolution_graph(const ConvolutionPass& shape)
{
    return graph_of(operations_of(shape));
}

std::vector<Descriptor> operations_of(const NormShape& shape)
{
    Tensors tensors(shape.batch, shape.precision);
    const Descriptor source = tensors.map(norm_source, shape.map);
    const Descriptor result = tensors.map(norm_result, shape.map);
    const Descriptor given = tensors.map(norm_gradient_given, shape.map);
    const Descriptor between = tensors.passing(shape.map);
    if (!shape.relu)
        return {shape.backward ? differentiate(shape, source, given, result) : normalise(shape, source, result)};
    if (!shape.backward)
        return {normalise(shape, source, between), pointwise(CUDNN_POINTWISE_RELU_FWD, {between}, result)};
    return {pointwise_backward(CUDNN_POINTWISE_RELU_BWD, tensors.map(norm_output, shape.map), given, between),
            differentiate(shape, source, between, result)};
}

Descriptor graph_of(const NormShape& shape)
{
    return graph_of(operations_of(shape));
}

}  // namespace roof::cudnn
