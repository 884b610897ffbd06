#include "workloads/cudnn/library/norm_graph.hpp"

namespace roof::cudnn {
namespace {

constexpr std::int64_t number_passing = 100;

/// The tensors of one graph: maps in the shape's precision, values per channel in fp32.
class Tensors {
  public:
    explicit Tensors(const NormShape& shape)
        : map_{shape.batch, shape.map.channels, shape.map.height, shape.map.width}, type_(type_of(shape.precision))
    {
    }

    Descriptor map(std::int64_t number) const { return tensor(number, map_, type_); }
    Descriptor passing() const { return tensor(number_passing, map_, CUDNN_DATA_FLOAT, Residence::passing); }
    Descriptor channels(std::int64_t number) const { return tensor(number, {1, map_[1], 1, 1}, CUDNN_DATA_FLOAT); }
    static Descriptor argument(std::int64_t number)
    {
        return tensor(number, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, Residence::argument);
    }

  private:
    Dimensions map_;
    cudnnDataType_t type_;
};

constexpr cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;

Descriptor normalise(const Tensors& tensors, const Descriptor& to)
{
    constexpr cudnnBackendNormFwdPhase_t training = CUDNN_NORM_FWD_TRAINING;
    Descriptor made(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    return made.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, &training)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tensors.map(norm_source))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, tensors.channels(norm_weight))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tensors.channels(norm_bias))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, Tensors::argument(norm_epsilon))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, Tensors::argument(norm_share))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, tensors.channels(norm_running_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, tensors.channels(norm_running_variance))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, tensors.channels(norm_next_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, tensors.channels(norm_next_variance))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, tensors.channels(norm_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, tensors.channels(norm_inverse_deviation))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, to)
        .finish();
}

Descriptor differentiate(const Tensors& tensors, const Descriptor& gradient)
{
    Descriptor made(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
    return made.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, tensors.map(norm_source))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, tensors.channels(norm_mean))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, tensors.channels(norm_inverse_deviation))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, gradient)
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, tensors.channels(norm_weight))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, tensors.channels(norm_sum_of_products))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, tensors.channels(norm_sum))
        .set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, tensors.map(norm_result))
        .finish();
}

std::vector<Descriptor> forward(const Tensors& tensors, bool relu)
{
    const Descriptor result = tensors.map(norm_result);
    if (!relu) return {normalise(tensors, result)};
    const Descriptor between = tensors.passing();
    return {normalise(tensors, between), pointwise(CUDNN_POINTWISE_RELU_FWD, between, nullptr, result)};
}

std::vector<Descriptor> backward(const Tensors& tensors, bool relu)
{
    const Descriptor given = tensors.map(norm_gradient_given);
    if (!relu) return {differentiate(tensors, given)};
    const Descriptor between = tensors.passing();
    return {pointwise_backward(CUDNN_POINTWISE_RELU_BWD, tensors.map(norm_output), given, between),
            differentiate(tensors, between)};
}

}  // namespace

Descriptor norm_graph(const NormShape& shape)
{
    const Tensors tensors(shape);
    return graph_of(shape.backward ? backward(tensors, shape.relu) : forward(tensors, shape.relu));
}

}  // namespace roof::cudnn
