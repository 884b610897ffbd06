#include "workloads/cudnn/convolution_graph.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <array>

namespace roof::cudnn {
namespace {

cudnnDataType_t type_of(Precision precision)
{
    switch (precision) {
        case Precision::bf16:
            return CUDNN_DATA_BFLOAT16;
        case Precision::fp16:
            return CUDNN_DATA_HALF;
        default:
            return CUDNN_DATA_FLOAT;
    }
}

using Dimensions = std::array<std::int64_t, 4>;

/// Channels-last; `dimensions` in cuDNN's order, n c h w.
Descriptor tensor(std::int64_t number, const Dimensions& dimensions, cudnnDataType_t type, bool passing = false)
{
    const auto [n, c, h, w] = dimensions;
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>{n, c, h, w})
        .set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>{h * w * c, 1, w * c, c})
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    if (passing) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    return made.finish();
}

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

/// How the three kinds of operation name the same things.
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

/// y = f(x, b); without `addend`, y = f(x).
Descriptor pointwise(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor* addend, const Descriptor& to)
{
    Descriptor what(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
        .finish();
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    if (addend != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *addend);
    return operation.finish();
}

Descriptor convolve(const ConvolutionShape& shape, const Descriptor& source, const Descriptor& weights,
                    const Descriptor& result)
{
    const Names names = names_of(shape.pass);
    Descriptor operation(names.operation);
    return operation.set(names.window, window_of(shape.window))
        .set(names.source, source)
        .set(names.weights, weights)
        .set(names.result, result)
        .set(names.alpha, 1.0)
        .set(names.beta, 0.0)
        .finish();
}

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
    Descriptor so_far = tensor(number_passing, result, CUDNN_DATA_FLOAT, true);
    operations.push_back(convolve(shape, source, weights, so_far));
    if (shape.bias) {
        const Descriptor bias = tensor(number_bias, {1, shape.result.channels, 1, 1}, type);
        const Descriptor sum = shape.relu ? tensor(number_passing + 1, result, CUDNN_DATA_FLOAT, true) : last;
        operations.push_back(pointwise(CUDNN_POINTWISE_ADD, so_far, &bias, sum));
        so_far = sum;
    }
    if (shape.relu) operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, so_far, nullptr, last));
    return operations;
}

EngineNotes notes_of(const Descriptor& engine)
{
    EngineNotes notes;
    for (const int note :
         engine.words(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)) {
        if (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE) notes.tensor_core = true;
        if (note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) notes.rounds_inputs = true;
        if (note == CUDNN_NUMERICAL_NOTE_FFT) notes.fft = true;
        if (note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) notes.deterministic = false;
        if (note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) notes.winograd_tile = 2;
        if (note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) notes.winograd_tile = 4;
        if (note >= CUDNN_NUMERICAL_NOTE_WINOGRAD && note <= CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13)
            notes.winograd = true;
    }
    for (const int note :
         engine.words(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT)) {
        if (note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) notes.compiled_at_run_time = true;
    }
    return notes;
}

Engine described(const Descriptor& configuration)
{
    const Descriptor engine = configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    std::string name = "engine " + std::to_string(engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    for (const Descriptor& choice :
         configuration.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)) {
        const int knob = choice.words(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1).at(0);
        name += " k" + std::to_string(knob) + "=" + std::to_string(choice.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    }
    return {name, notes_of(engine), configuration};
}

/// A mode that has nothing to say of a graph refuses it: then it suggests nobody.
std::vector<Descriptor> suggestions(const Descriptor& graph, const Descriptor& device, cudnnBackendHeurMode_t mode)
{
    try {
        Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
            .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode)
            .set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device)
            .finish();
        return heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    } catch (const Unsupported&) {
        return {};
    }
}

}  // namespace

std::string_view EngineNotes::algorithm() const
{
    if (winograd) return "winograd";
    return fft ? "fft" : "gemm";
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionShape& shape) : graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
{
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_of(shape)).finish();
}

std::vector<Engine> ConvolutionGraph::engines(const Descriptor& device) const
{
    std::vector<Engine> found;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        for (const Descriptor& configuration : suggestions(graph_, device, mode)) {
            Engine engine = described(configuration);
            const auto same = [&](const Engine& other) { return other.name == engine.name; };
            if (std::ranges::none_of(found, same)) found.push_back(std::move(engine));
        }
    }
    return found;
}

Plan plan_of(const Engine& engine, const Descriptor& device)
{
    Plan plan{Descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)};
    plan.descriptor.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine.configuration)
        .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device)
        .finish();
    plan.workspace = plan.descriptor.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    return plan;
}

}  // namespace roof::cudnn
