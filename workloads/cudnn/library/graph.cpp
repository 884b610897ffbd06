#include "workloads/cudnn/library/graph.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

Descriptor pointwise_function(cudnnPointwiseMode_t mode, cudnnDataType_t computed_in = CUDNN_DATA_FLOAT,
                              std::int64_t axis = 0)
{
    Descriptor what(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed_in);
    if (mode == CUDNN_POINTWISE_GEN_INDEX) what.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    return what.finish();
}

Engine described(const Descriptor& configuration)
{
    const Descriptor engine = configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    std::string name = "engine " + std::to_string(engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    // cuDNN reports 0 as the number of choices, so ask for the maximum.
    for (const Descriptor& choice : configuration.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                        CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
        const int knob = choice.words(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1).at(0);
        name += " k" + std::to_string(knob) + "=" + std::to_string(choice.number(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    }
    return {
        name,
        notes_of(
            engine.words(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
            engine.words(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT)),
        configuration};
}

/// Returns the suggestions of a heuristics mode; none if the mode refuses the graph.
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

cudnnDataType_t type_of(Precision precision)
{
    if (precision == Precision::bf16) return CUDNN_DATA_BFLOAT16;
    return precision == Precision::fp16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

Descriptor tensor(std::int64_t number, const Dimensions& dimensions, cudnnDataType_t type, Residence residence)
{
    const auto [n, c, h, w] = dimensions;
    return tensor(number, dimensions, {h * w * c, 1, w * c, c}, type, residence);
}

Descriptor tensor(std::int64_t number, const Dimensions& dimensions, const Dimensions& strides, cudnnDataType_t type,
                  Residence residence)
{
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>(dimensions.begin(), dimensions.end()))
        .set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>(strides.begin(), strides.end()))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    if (residence == Residence::passing) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    if (residence == Residence::argument) made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    return made.finish();
}

Descriptor pointwise(cudnnPointwiseMode_t mode, const std::vector<Descriptor>& from, const Descriptor& to,
                     cudnnDataType_t computed_in, std::int64_t axis)
{
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise_function(mode, computed_in, axis))
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from[0])
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    if (from.size() > 1) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, from[1]);
    if (from.size() > 2) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, from[2]);
    return operation.finish();
}

Descriptor pointwise_backward(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor& gradient,
                              const Descriptor& to)
{
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    return operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise_function(mode))
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, gradient)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, to)
        .finish();
}

EngineNotes notes_of(const std::vector<int>& numerical, const std::vector<int>& of_behaviour)
{
    const auto has = [&](int note) { return std::ranges::count(numerical, note) > 0; };
    const bool compiles = std::ranges::count(of_behaviour, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) > 0;
    const auto is_winograd = [](int note) {
        return note >= CUDNN_NUMERICAL_NOTE_WINOGRAD && note <= CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13;
    };
    return {.tensor_core = has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
            .rounds_inputs = has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS),
            .winograd = std::ranges::any_of(numerical, is_winograd),
            .winograd_tile = has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4)   ? 2
                             : has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) ? 4
                                                                           : 0,
            .fft = has(CUDNN_NUMERICAL_NOTE_FFT),
            .deterministic = !has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC),
            .compiled_at_run_time = compiles};
}

std::string_view EngineNotes::algorithm() const
{
    if (winograd) return "winograd";
    return fft ? "fft" : "gemm";
}

Descriptor address_pack(const std::vector<Address>& addresses, void* workspace)
{
    std::vector<std::int64_t> numbers;
    std::vector<void*> places;
    for (const Address& one : addresses) {
        numbers.push_back(one.number);
        places.push_back(one.at);
    }
    const auto count = static_cast<std::int64_t>(addresses.size());
    Descriptor made(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    return made.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, numbers.data())
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, places.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace)
        .finish();
}

Descriptor graph_of(const std::vector<Descriptor>& operations)
{
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    return graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations).finish();
}

std::vector<Engine> engines_for(const Descriptor& graph, const Descriptor& device)
{
    std::vector<Engine> found;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        for (const Descriptor& configuration : suggestions(graph, device, mode)) {
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
