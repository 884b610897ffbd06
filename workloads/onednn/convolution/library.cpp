// oneDNN's implementations as candidates. oneDNN reports only an implementation's name, not how it computes. The table
// below is the only place that interprets these names.
#include "workloads/onednn/convolution/passes.hpp"

#include <array>
#include <utility>

namespace roof::onednn {
namespace {

struct Known {
    std::string_view mark;  ///< substring of the implementation's name
    Algorithm algorithm;
    int winograd_tile;   ///< results per tile edge; 0: not Winograd
    bool skips_padding;  ///< products with padding are skipped; the minimum is counted
};

/// The first row whose mark is in the name applies.
constexpr std::array<Known, 5> known{{{"wino_4x3", Algorithm::winograd, 4, false},
                                      {"wino_2x3", Algorithm::winograd, 2, false},
                                      {"wino_6x3", Algorithm::winograd, 6, false},
                                      {"gemm", Algorithm::gemm, 0, false},
                                      {"jit", Algorithm::direct, 0, true}}};

/// Widest set first, because ":avx" is also in ":avx2".
constexpr std::array<std::pair<std::string_view, int>, 4> instruction_sets{
    {{":avx512", 512}, {":avx2", 256}, {":avx", 255}, {":sse41", 128}}};

Flops executed_flops(const Known& row, const model::Convolution& convolution)
{
    const auto flops = [](long long multiply_adds) { return Flops{2.0 * static_cast<double>(multiply_adds)}; };
    if (row.winograd_tile > 0) return flops(model::winograd_multiply_adds(convolution, row.winograd_tile));
    return row.skips_padding ? flops(model::unpadded_multiply_adds(convolution)) : Flops{};
}

/// oneDNN's numbers of a pass's arguments.
struct Numbers {
    int source, weights, result, bias;
};
constexpr std::array<Numbers, 3> numbers_of_pass{
    {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS},
     {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, 0},
     {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_BIAS}}};

template <class Primitive, class Description>
std::vector<Candidate> wrap(const std::vector<Description>& implementations, const ConvolutionPass& shape)
{
    const Numbers numbers = numbers_of_pass[static_cast<std::size_t>(shape.pass)];
    std::vector<Candidate> all;
    for (const Description& implementation : implementations) {
        const std::string name = implementation.impl_info_str();
        const LibraryFacts facts = facts_of(name, shape);
        const auto layout = [&](int number) { return implementation.query_md(dnnl::query::exec_arg_md, number); };
        all.push_back({.name = name,
                       .algorithm = facts.algorithm,
                       .executed = facts.executed,
                       .vector_bits = facts.vector_bits,
                       .is_preferred = all.empty(),
                       .layouts = {layout(numbers.source), layout(numbers.weights), layout(numbers.result)},
                       .append = [=](Program& program, const ConvolutionTensors& tensors) {
                           Arguments arguments{{numbers.source, tensors.source},
                                               {numbers.weights, tensors.weights},
                                               {numbers.result, tensors.result}};
                           if (tensors.has_bias) arguments.emplace_back(numbers.bias, tensors.bias);
                           program.append<Primitive>(implementation, arguments);
                       }});
    }
    return all;
}

}  // namespace

LibraryFacts facts_of(const std::string& implementation, const model::Convolution& convolution)
{
    LibraryFacts facts;
    for (const auto& [mark, bits] : instruction_sets) {
        if (facts.vector_bits == 0 && implementation.find(mark) != std::string::npos) facts.vector_bits = bits;
    }
    for (const Known& row : known) {
        if (implementation.find(row.mark) == std::string::npos) continue;
        facts.algorithm = row.algorithm;
        facts.executed = executed_flops(row, convolution);
        break;
    }
    return facts;
}

std::vector<Candidate> library_candidates(const dnnl::engine& engine, const ConvolutionPass& shape, Algorithm algorithm,
                                          bool is_plain)
{
    constexpr auto convolution_direct = dnnl::algorithm::convolution_direct;
    const auto kind = algorithm == Algorithm::winograd ? dnnl::algorithm::convolution_winograd : convolution_direct;
    if (shape.pass == Pass::forward)
        return wrap<dnnl::convolution_forward>(forward_passes(engine, shape, kind, is_plain), shape);
    // oneDNN needs a forward pass of the same shape to make a backward pass.
    const auto forward = forward_passes(engine, shape, convolution_direct, is_plain);
    if (forward.empty()) return {};
    if (shape.pass == Pass::backward_data)
        return wrap<dnnl::convolution_backward_data>(backward_data_passes(engine, shape, kind, forward.front()), shape);
    return wrap<dnnl::convolution_backward_weights>(
        backward_weights_passes(engine, shape, kind, forward.front(), is_plain), shape);
}

}  // namespace roof::onednn
