// oneDNN reports only an implementation's name, not how it computes. The table of names is the only place that
// interprets them.
#include "workloads/onednn/convolution/passes.hpp"

#include "ert/base/names.hpp"
#include "ert/method/bench/chip.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/isa/isa.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

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

Layouts kernel_layouts(const ConvolutionPass& shape)
{
    const bool is_in_groups = shape.groups > 1;
    const bool wide = is_in_groups || kernels::convolution_lanes() == 16;
    const auto map = [&](const model::Shape& of) {
        return in_format(dims_of(shape.batch, of), wide ? Tag::nChw16c : Tag::nChw8c,
                         is_in_groups ? Precision::fp32 : shape.precision);
    };
    const Tag weights = is_in_groups ? Tag::Goihw16g : wide ? Tag::OIhw16i16o : Tag::OIhw8i8o;
    return {.source = map(shape.source),
            .weights = in_format(weights_of(shape), weights, Precision::fp32),
            .result = map(shape.result)};
}

void append_kernel(Program& program, const kernels::ConvolutionPlan& plan, const ConvolutionTensors& tensors)
{
    // A tensor must not be empty.
    const Tensor workspace = program.tensor(plain({static_cast<Dim>(std::max<std::size_t>(1, plan.workspace))}));
    program.append(
        [=] {
            plan.run({.source = tensors.source.elements(),
                      .weights = tensors.weights.data(),
                      .result = tensors.result.elements(),
                      .bias = tensors.bias.data(),
                      .workspace = workspace.data()});
        },
        {tensors.source, tensors.weights, tensors.result, workspace, tensors.bias}, plan.name);
}

Tensor ConvolutionTensors::*written_by(Pass pass)
{
    return pass == Pass::forward         ? &ConvolutionTensors::result
           : pass == Pass::backward_data ? &ConvolutionTensors::source
                                         : &ConvolutionTensors::weights;
}

void add_kernels(const ConvolutionPass& shape, int threads, std::vector<Candidate>& all)
{
    for (const kernels::ConvolutionPlan& plan : kernels::convolution_plans(shape, threads))
        all.push_back({.name = plan.name,
                       .algorithm = plan.algorithm,
                       .executed = plan.executed,
                       .vector_bits = 32 * kernels::convolution_lanes(),
                       .is_preferred = true,
                       .is_kernel = true,
                       .layouts = kernel_layouts(shape),
                       .refetched = plan.refetched,
                       .append = [plan](Program& program, const ConvolutionTensors& tensors) {
                           append_kernel(program, plan, tensors);
                       }});
}

/// Weights of single positions as a matrix. They are read in any layout; a gradient is written in one that no
/// convolution has, and so in a tensor of the program.
Tensor matrix_of(Program& program, const Tensor& weights)
{
    const Dims dims = dims_of(weights.desc());
    return program.view(weights, weights.desc().reshape({dims[0], dims[1]}));
}

void append_product(Program& program, const Implementation& product, const ConvolutionPass& shape,
                    const ConvolutionTensors& tensors)
{
    const Numbers numbers = numbers_of_pass[static_cast<std::size_t>(shape.pass)];
    const Dim positions = Dim{shape.batch} * shape.source.height * shape.source.width;
    const auto rows = [&](const Tensor& map) {
        return program.view(map, plain({positions, dims_of(map.desc())[1]}, shape.precision));
    };
    const Desc layout = product.layout_of(numbers.weights);
    const Tensor matrix = matrix_of(program, tensors.weights);
    const bool writes = shape.pass == Pass::backward_weights;
    const Tensor weights = writes ? program.tensor(layout) : program.in_layout(matrix, layout);
    program.append(product, {{numbers.source, rows(tensors.source)},
                             {numbers.weights, weights},
                             {numbers.result, rows(tensors.result)},
                             {numbers.bias, tensors.bias}});
    if (writes) program.reorder(weights, matrix);
}

/// In bf16: oneDNN 2.6 multiplies matrices by AMX several times faster than it convolves single positions.
void add_products(const dnnl::engine& engine, const ConvolutionPass& shape, std::vector<Candidate>& all)
{
    if (shape.precision != Precision::bf16 || shape.of_images || shape.prologue || shape.statistics) return;
    const Desc gradient = in_format(weights_of(shape), Tag::iohw, Precision::fp32);
    for (const Implementation& one : product_implementations(engine, shape))
        all.push_back({.name = "product " + one.name,
                       .algorithm = Algorithm::gemm,
                       .vector_bits = facts_of(one.name, shape).vector_bits,
                       .is_preferred = true,
                       .layouts = {in_format(dims_of(shape.batch, shape.source), Tag::nhwc, shape.precision),
                                   shape.pass == Pass::backward_weights ? gradient : Desc{},
                                   in_format(dims_of(shape.batch, shape.result), Tag::nhwc, shape.precision)},
                       .append = [one, shape](Program& program, const ConvolutionTensors& tensors) {
                           append_product(program, one, shape, tensors);
                       }});
}

}  // namespace

LibraryFacts facts_of(const std::string& implementation, const model::Convolution& convolution)
{
    LibraryFacts facts;
    for (const auto& [mark, bits] : instruction_sets)
        if (facts.vector_bits == 0 && implementation.find(mark) != std::string::npos) facts.vector_bits = bits;
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
    using kind = dnnl::algorithm;
    const auto by = algorithm == Algorithm::winograd ? kind::convolution_winograd : kind::convolution_direct;
    const Numbers numbers = numbers_of_pass[static_cast<std::size_t>(shape.pass)];
    std::vector<Candidate> all;
    for (const Implementation& one : convolution_implementations(engine, shape, by, is_plain)) {
        const LibraryFacts facts = facts_of(one.name, shape);
        all.push_back(
            {.name = one.name,
             .algorithm = facts.algorithm,
             .executed = facts.executed,
             .vector_bits = facts.vector_bits,
             .is_preferred = all.empty(),
             .layouts = {one.layout_of(numbers.source), one.layout_of(numbers.weights), one.layout_of(numbers.result)},
             .append = [=](Program& program, const ConvolutionTensors& tensors) {
                 program.append(one, {{numbers.source, tensors.source},
                                      {numbers.weights, tensors.weights},
                                      {numbers.result, tensors.result},
                                      {numbers.bias, tensors.bias}});
             }});
    }
    return all;
}

std::vector<Candidate> candidates(const dnnl::engine& engine, const ConvolutionPass& shape, int threads, bool is_plain)
{
    std::vector<Candidate> all = library_candidates(engine, shape, Algorithm::direct, is_plain);
    add_kernels(shape, threads, all);
    std::ranges::move(library_candidates(engine, shape, Algorithm::winograd, is_plain), std::back_inserter(all));
    add_products(engine, shape, all);
    if (shape.precision != Precision::bf16) return all;
    ConvolutionPass wide = shape;
    wide.precision = Precision::fp32;
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::winograd}) {
        for (Candidate& candidate : library_candidates(engine, wide, algorithm, false)) {
            candidate.name += " in fp32";
            all.push_back(std::move(candidate));
        }
    }
    return all;
}

std::optional<std::string> unsupported_precision(Precision precision, model::Use use)
{
    const std::string least = "roof:" + std::string(isa_for_bf16(use == model::Use::decode));
    if (precision != Precision::bf16 || kernels::processor_isa() >= parse_enum<kernels::Isa>(least))
        return std::nullopt;
    return "bf16 needs AVX-512: its dot products (avx512_bf16), or widened to fp32 its FMA; to decode, AVX2";
}

bool offers_winograd(Precision precision)
{
    const model::Shape map{64, 56, 56};
    const ConvolutionPass usual{{2, map, map, {.size = 3, .stride = 1, .padding = 1}}, Pass::forward, precision};
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return kernels::convolution_lanes() > 0 || !library_candidates(engine, usual, Algorithm::winograd, false).empty();
}

void append_pass(Program& program, Pass pass, const Candidate& candidate, const ConvolutionTensors& tensors)
{
    Tensor ConvolutionTensors::*const written = written_by(pass);
    ConvolutionTensors own = tensors;
    const auto place = [&](Tensor ConvolutionTensors::*operand, const Desc& layout) {
        if (layout.is_zero()) return;
        if (operand == written && (own.*operand).desc() != layout) own.*operand = program.tensor(layout);
        if (operand != written) own.*operand = program.in_layout(tensors.*operand, layout);
    };
    place(&ConvolutionTensors::source, candidate.layouts.source);
    place(&ConvolutionTensors::weights, candidate.layouts.weights);
    place(&ConvolutionTensors::result, candidate.layouts.result);
    candidate.append(program, own);
    if ((own.*written).block != (tensors.*written).block) program.reorder(own.*written, tensors.*written);
}

}  // namespace roof::onednn
