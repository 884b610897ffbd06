// cuBLASLt's matrices are column-major: [rows][columns] here is columns x rows there. With W [o][i], X [n][i] and Y
// [n][o]:
//   forward  Y = W' X;   backward_data  X = W Y;   backward_weights  W = X Y'
#include "workloads/cudnn/library/products.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/library/trial.hpp"
#include "workloads/engine/choices.hpp"

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

namespace roof::cudnn {
namespace {

gpu::ProductTypes types_of(const Product& product)
{
    const bool rounded = product.precision == Precision::tf32;
    return {type_of_numbers(product.precision), type_of_numbers(product.result_precision), CUDA_R_32F,
            rounded ? gpu::compute_tf32 : gpu::compute_32f};
}

gpu::ProductShape shape_of(const Product& product, bool fused)
{
    using Extent = gpu::ProductShape::Extent;
    using enum gpu::ProductShape::Epilogue;
    const auto inputs = static_cast<std::uint64_t>(product.inputs);
    const auto outputs = static_cast<std::uint64_t>(product.outputs);
    const auto batch = static_cast<std::uint64_t>(product.batch);
    const Extent weights{inputs, outputs};
    const Extent source{inputs, batch};
    const Extent result{outputs, batch};
    const bool has_bias = fused && product.bias;
    const bool has_gelu = fused && product.gelu;
    const auto behind = !has_bias ? none : product.relu ? bias_relu : has_gelu ? bias_gelu : bias;
    if (product.pass == Pass::forward) return {weights, source, result, true, false, behind, product.adds};
    if (product.pass == Pass::backward_data)
        return {weights, result, source, false, false, has_gelu ? gelu_gradient : none, product.adds};
    return {source, result, weights, false, true, has_bias ? sums_of_right : none, product.adds};
}

std::shared_ptr<const gpu::CublasLt> opened_library()
{
    if (auto library = gpu::CublasLt::open()) return library;
    throw Unsupported("libcublasLt was not found: install cuBLAS, or put its folder on LD_LIBRARY_PATH");
}

/// Whether our own kernel computes it, too.
bool is_of_few_rows(const Product& product)
{
    constexpr int multiple = 8;
    return product.pass == Pass::forward && product.batch <= most_few_rows && product.inputs % multiple == 0 &&
           !product.gelu && !product.adds;
}

/// The product on memory of its own, to which each algorithm adds a way, and our own kernel the last. What a step reads
/// long after it was written, weights and the sources of their gradients, comes from memory: each product of a way has
/// its own, up to twice the L2.
void add_product(Trial& trial, const Product& of, bool fused, const gpu::Product& product, int algorithms, int ways)
{
    constexpr std::size_t most = 16;
    int device = 0;
    int l2 = 0;
    gpu::check(cudaGetDevice(&device));
    gpu::check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
    const Precision stored = of.precision == Precision::tf32 ? Precision::fp32 : of.precision;
    std::size_t workspace = 0;
    for (int plan = 0; plan < algorithms; ++plan) workspace = std::max(workspace, product.workspace(plan));
    const auto matrix = [&](int rows, int columns, Pass writes) {
        const Precision precision = of.pass == writes ? of.result_precision : stored;
        return trial.value({.batch = rows, .channels = columns, .precision = precision}, pattern(around_zero));
    };
    Multiply one{.pass = of.pass,
                 .source = matrix(of.batch, of.inputs, Pass::backward_data),
                 .weights = matrix(of.outputs, of.inputs, Pass::backward_weights),
                 .result = matrix(of.batch, of.outputs, Pass::forward),
                 .bias = fused && of.bias ? trial.program().resident({.batch = 1, .channels = of.outputs}) : Tensor{},
                 .before_gelu = fused && of.gelu
                                    ? matrix(of.batch, of.pass == Pass::forward ? of.outputs : of.inputs, of.pass)
                                    : Tensor{},
                 .workspace = workspace > 0 ? trial.program().resident_bytes(workspace) : Tensor{}};
    const bool is_of_weights = of.pass == Pass::backward_weights;
    std::vector<Tensor> far{is_of_weights ? one.source : one.weights};
    while (far.size() < most && far.size() * far.front().bytes() < 2 * static_cast<std::size_t>(l2))
        far.push_back(is_of_weights ? matrix(of.batch, of.inputs, Pass::backward_data)
                                    : matrix(of.outputs, of.inputs, Pass::backward_weights));
    for (one.plan = 0; one.plan < ways; ++one.plan) {
        Trial::Way way;
        for (const Tensor& each : far) {
            (is_of_weights ? one.source : one.weights) = each;
            way.timed.emplace_back(one);
        }
        trial.add(std::move(way));
    }
    trial.time_in_graphs(1);
}

}  // namespace

Products::Products(const gpu::Stream& stream, bool times)
    : stream_(stream), times_(times), library_(opened_library()), context_(library_->context())
{
}

Choice Products::choose(const Product& product)
{
    const auto [place, is_new] = known_.try_emplace(product, static_cast<int>(chosen_.size()));
    if (is_new) chosen_.push_back(find(product));
    const Chosen& chosen = chosen_[static_cast<std::size_t>(place->second)];
    return {.plan = place->second,
            .workspace = chosen.is_own() ? 0 : chosen.product->workspace(chosen.algorithm),
            .implementation = chosen.is_own() ? "roof:few_rows" : "cublaslt",
            .algorithm = "gemm",
            .winograd_tile = 0,
            .fused = chosen.fused};
}

/// Chooses an algorithm with bias and ReLU if there is one, else one without.
Products::Chosen Products::find(const Product& product)
{
    constexpr int most = 12;
    const gpu::ProductTypes types = types_of(product);
    for (const bool fused : {true, false}) {
        const gpu::ProductShape shape = shape_of(product, fused);
        Chosen best{.product = {}, .fused = fused};
        try {
            best.product = std::make_shared<gpu::Product>(library_, context_, types, shape, most);
            const int algorithms = times_ ? best.product->algorithms() : std::min(1, best.product->algorithms());
            int ways = algorithms;
            if (times_ && is_of_few_rows(product)) ++ways;
            const auto prepare = [&]() -> engine::CandidateSeconds {
                const auto trial = std::make_shared<Trial>(stream_);
                add_product(*trial, product, fused, *best.product, algorithms, ways);
                trial->place("trying a product", [&](const ir::Operation& operation, const Memory& memory) {
                    const auto& one = std::get<Multiply>(operation);
                    return running({best.product, one.plan, fused}, one, memory);
                });
                return [trial](std::size_t way) { return trial->seconds(way); };
            };
            // The library's algorithms have no names by which another process would find them.
            const std::vector<std::string> names(static_cast<std::size_t>(ways));
            try {
                best.algorithm = static_cast<int>(engine::Choices().fastest({}, names, prepare));
            } catch (const OutOfMemory&) {  // no room to try them: the one that takes least
                for (int plan = 1; plan < algorithms; ++plan)
                    if (best.product->workspace(plan) < best.product->workspace(best.algorithm)) best.algorithm = plan;
            }
            return best;
        } catch (const Unsupported&) {
            continue;  // no algorithm with that epilogue, or none that runs
        }
    }
    throw Unsupported("cuBLASLt " + library_->version() + " knows no algorithm for a product of " +
                      std::to_string(product.batch) + " x " + std::to_string(product.inputs) + " to " +
                      std::to_string(product.outputs) + " on this GPU");
}

std::function<void()> Products::running(const Chosen& chosen, const Multiply& operation, const Memory& memory) const
{
    if (chosen.is_own()) return [=, this] { multiply_few_rows(operation, memory, stream_.get()); };
    void* const source = memory.at(operation.source);
    void* const weights = memory.at(operation.weights);
    void* const result = memory.at(operation.result);
    void* left = weights;
    void* right = source;
    void* written = result;
    if (operation.pass == Pass::backward_data) {
        right = result;
        written = source;
    } else if (operation.pass == Pass::backward_weights) {
        left = source;
        right = result;
        written = weights;
    }
    return [=, this, bias = memory.at(operation.bias), before = memory.at(operation.before_gelu),
            workspace = memory.at(operation.workspace), bytes = operation.workspace.elements()] {
        if (bias != nullptr) chosen.product->set_bias(bias);  // others may have the same product
        if (before != nullptr) chosen.product->set_before_gelu(before);
        chosen.product->enqueue(chosen.algorithm, left, right, written, workspace, workspace == nullptr ? 0 : bytes,
                                stream_.get());
    };
}

std::function<void()> Products::bound(const Multiply& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)], operation, memory);
}

Choice Products::by_products(const AttentionPass& pass, bool rounded)
{
    const auto made = std::make_shared<AttentionProducts>(library_, context_, pass, rounded);
    attention_.push_back(made);
    return {.plan = static_cast<int>(attention_.size()) - 1,
            .workspace = made->workspace(),
            .implementation = "cublaslt: products",
            .by_products = true};
}

}  // namespace roof::cudnn
