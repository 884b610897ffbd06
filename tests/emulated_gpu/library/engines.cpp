#include "tests/emulated_gpu/library/engines.hpp"

#include "ert/base/error.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"
#include "tests/engine/layers/host_run.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <variant>

using roof::emulated::OfferedEngine;

namespace roof::cudnn {
namespace {

/// What stands behind a descriptor: a graph of one pass, an engine or plan for it, or addresses.
struct Content {
    std::variant<ConvolutionPass, NormShape, AttentionPass> shape;
    OfferedEngine engine;
    std::map<std::int64_t, void*> addresses;
    void* workspace = nullptr;
};

Content& content(const Descriptor& descriptor)
{
    return *static_cast<Content*>(descriptor.get());
}

Descriptor made(const Content& given)
{
    Descriptor descriptor(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    content(descriptor) = given;
    return descriptor;
}

std::vector<Engine> engines_of(const Content& graph, const std::vector<OfferedEngine>& offered)
{
    std::vector<Engine> all;
    for (const OfferedEngine& one : offered) {
        all.push_back({one.name, {}, made({.shape = graph.shape, .engine = one})});
        all.back().notes.compiled_at_run_time = one.compiled;
    }
    return all;
}

/// Tensors at given addresses, as the loops take them.
class Operands {
  public:
    explicit Operands(const std::map<std::int64_t, void*>& addresses) : addresses_(addresses)
    {
        block_ = program_.resident_bytes(1).block;
        program_.place();
    }
    const Memory& memory() const { return memory_; }
    Tensor at(std::int64_t number, Tensor shape) const
    {
        const auto found = addresses_.find(number);
        if (found == addresses_.end()) return {};
        shape.block = block_;
        const auto zero = reinterpret_cast<std::uintptr_t>(memory_.at(Tensor{.block = block_}));
        shape.begin = reinterpret_cast<std::uintptr_t>(found->second) - zero;
        return shape;
    }

  private:
    const std::map<std::int64_t, void*>& addresses_;
    Program program_;
    int block_ = 0;
    std::byte origin_{};
    Memory memory_{program_, &origin_};
};

Tensor map_of(int batch, const model::Shape& shape, Precision precision)
{
    return {.batch = batch,
            .channels = shape.channels,
            .height = shape.height,
            .width = shape.width,
            .precision = precision};
}

/// Returns the tensor that is written.
Tensor run_pass(const ConvolutionPass& shape, const Operands& operands)
{
    const Tensor inputs{.batch = 1, .channels = shape.source.channels};
    const Tensor outputs{.batch = 1, .channels = shape.result.channels};
    Tensor bias = outputs;
    bias.precision = shape.precision;
    const Convolve operation{.shape = shape,
                             .source = operands.at(number_source, map_of(shape.batch, shape.source, shape.precision)),
                             .weights = operands.at(number_weights, {.batch = shape.result.channels,
                                                                     .channels = shape.source.channels,
                                                                     .height = shape.window.size,
                                                                     .width = shape.window.size,
                                                                     .precision = shape.precision}),
                             .result = operands.at(number_result, map_of(shape.batch, shape.result, shape.precision)),
                             .bias = operands.at(number_bias, bias),
                             .scale = operands.at(number_scale, inputs),
                             .shift = operands.at(number_shift, inputs),
                             .sum = operands.at(number_sum, outputs),
                             .squares = operands.at(number_squares, outputs)};
    convolve(operation, operands.memory());
    return shape.pass == Pass::forward         ? operation.result
           : shape.pass == Pass::backward_data ? operation.source
                                               : operation.weights;
}

Tensor run_pass(const NormShape& shape, const Operands& operands)
{
    const Tensor map = map_of(shape.batch, shape.map, shape.precision);
    const Tensor channels{.batch = 1, .channels = shape.map.channels};
    const auto of_channels = [&](std::int64_t number) { return operands.at(number, channels); };
    const ChannelNumbers numbers{.mean = of_channels(norm_mean),
                                 .inverse_deviation = of_channels(norm_inverse_deviation),
                                 .scale = {},
                                 .shift = {}};
    const Tensor result = operands.at(norm_result, map);
    ir::Operation operation;
    if (shape.backward)
        operation = LibraryNormGradient{.shape = shape,
                                        .gradient = operands.at(norm_gradient_given, map),
                                        .output = operands.at(norm_output, map),
                                        .source = operands.at(norm_source, map),
                                        .weight = of_channels(norm_weight),
                                        .channels = numbers,
                                        .sum = of_channels(norm_sum),
                                        .sum_of_products = of_channels(norm_sum_of_products),
                                        .result = result};
    else
        operation = LibraryNorm{.shape = shape,
                                .source = operands.at(norm_source, map),
                                .weight = of_channels(norm_weight),
                                .bias = of_channels(norm_bias),
                                .channels = numbers,
                                .running_mean = of_channels(norm_running_mean),
                                .running_variance = of_channels(norm_running_variance),
                                .result = result};
    run_on_host({{}, {operation}, {}}, operands.memory());
    return result;
}

Tensor run_pass(const AttentionPass& pass, const Operands& operands)
{
    const auto map = [&](std::int64_t number, int heads) {
        return operands.at(number, {.batch = pass.batch,
                                    .channels = heads * pass.channels,
                                    .height = 1,
                                    .width = pass.positions,
                                    .precision = pass.precision});
    };
    const auto numbers = [&](std::int64_t number) {
        return operands.at(number, {.batch = pass.batch, .channels = pass.heads, .height = 1, .width = pass.positions});
    };
    const int heads = pass.heads + 2 * pass.kv_heads;
    const Attention forward{.source = map(attention_queries, heads),
                            .result = map(attention_result, pass.heads),
                            .sums = numbers(attention_sums),
                            .heads = pass.heads,
                            .kv_heads = pass.kv_heads,
                            .causal = pass.causal};
    if (!pass.backward) {
        run_on_host({{}, {forward}, {}}, operands.memory());
        return forward.result;
    }
    const AttentionGradient backward{.gradient = map(attention_gradient, pass.heads),
                                     .source = forward.source,
                                     .result = forward.result,
                                     .sums = forward.sums,
                                     .to_source = map(attention_to_queries, heads),
                                     .products = numbers(attention_products),
                                     .heads = pass.heads,
                                     .kv_heads = pass.kv_heads,
                                     .causal = pass.causal};
    run_on_host({{}, {backward}, {}}, operands.memory());
    return backward.to_source;
}

void run_engine(const Content& plan, const std::map<std::int64_t, void*>& addresses)
{
    const Operands operands(addresses);
    const Tensor written = std::visit([&](const auto& shape) { return run_pass(shape, operands); }, plan.shape);
    if (!plan.engine.is_right) Values(operands.memory(), written).put(0, 1e4F);
}

}  // namespace

void check(cudnnStatus_t status, const std::string& what)
{
    if (status != CUDNN_STATUS_SUCCESS) throw Error(what);
}
std::string library_version()
{
    return "none (emulated)";
}
Descriptor::Descriptor(cudnnBackendDescriptorType_t) : handle_(std::make_shared<Content>()) {}
Descriptor current_device()
{
    return Descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
}
Handle::Handle(cudaStream_t stream) : handle_(reinterpret_cast<cudnnContext*>(stream)) {}

Descriptor address_pack(const std::vector<Address>& addresses, void* workspace)
{
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    content(pack).workspace = workspace;
    for (const Address& one : addresses) content(pack).addresses[one.number] = one.at;
    return pack;
}

Descriptor convolution_graph(const ConvolutionPass& shape)
{
    return made({.shape = shape});
}
Descriptor graph_of(const NormShape& shape)
{
    return made({.shape = shape});
}
Descriptor graph_of(const AttentionPass& pass)
{
    return made({.shape = pass});
}
std::vector<Engine> engines_for(const Descriptor& graph, const Descriptor&)
{
    const Content& of = content(graph);
    if (const auto* const pass = std::get_if<AttentionPass>(&of.shape))
        return engines_of(of, emulated::offers().attention(*pass));
    if (const auto* const shape = std::get_if<ConvolutionPass>(&of.shape))
        return engines_of(of, emulated::offers().convolutions(*shape));
    return engines_of(of, emulated::offers().norms(std::get<NormShape>(of.shape)));
}
std::string_view EngineNotes::algorithm() const
{
    return "gemm";
}
Plan plan_of(const Engine& engine, const Descriptor&)
{
    const OfferedEngine& one = content(engine.configuration).engine;
    std::this_thread::sleep_for(std::chrono::duration<double>(one.planning.value));
    return {engine.configuration, one.workspace};
}

}  // namespace roof::cudnn

roof::emulated::Offers& roof::emulated::offers()
{
    static Offers all;
    return all;
}

extern "C" cudnnStatus_t cudnnDestroy(cudnnHandle_t)
{
    return CUDNN_STATUS_SUCCESS;  // it is the stream
}

extern "C" cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                             cudnnBackendDescriptor_t pack)
{
    using namespace roof;
    const auto given = *static_cast<const cudnn::Content*>(plan);
    const auto [graph, engine, addresses, workspace] = *static_cast<const cudnn::Content*>(pack);
    const auto bytes = static_cast<std::size_t>(given.engine.workspace);
    if (!given.engine.runs) return CUDNN_STATUS_EXECUTION_FAILED;
    if (bytes > 0 && workspace == nullptr) return CUDNN_STATUS_BAD_PARAM;
    ++emulated::offers().runs;
    emulated::Machine& machine = emulated::machine();
    const std::lock_guard lock(machine.mutex());
    emulated::Stream& stream = machine.stream(reinterpret_cast<cudaStream_t>(handle), emulated::current_device());
    const auto run = [given, addresses = addresses, workspace = workspace, bytes](double& seconds) {
        if (bytes > 0) std::memset(workspace, 0xff, bytes);
        cudnn::run_engine(given, addresses);
        seconds += given.engine.seconds.value;
    };
    machine.enqueue(stream, {.run = run});
    return CUDNN_STATUS_SUCCESS;
}
