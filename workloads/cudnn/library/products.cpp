// cuBLASLt's matrices are column-major: [rows][columns] here is columns x rows there. With W [o][i], X [n][i] and Y
// [n][o]:
//   forward  Y = W' X;   backward_data  X = W Y;   backward_weights  W = X Y'
#include "workloads/cudnn/library/products.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace roof::cudnn {
namespace {

cudaDataType type_of_numbers(Precision precision)
{
    if (precision == Precision::bf16) return CUDA_R_16BF;
    return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

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
    const auto epilogue = !fused || !product.bias ? none : product.relu ? bias_relu : bias;
    switch (product.pass) {
        case Pass::forward:
            return {weights, source, result, true, false, epilogue, product.adds};
        case Pass::backward_data:
            return {weights, result, source, false, false, epilogue, product.adds};
        case Pass::backward_weights:
            break;
    }
    return {source, result, weights, false, true, epilogue, product.adds};
}

std::shared_ptr<const gpu::CublasLt> opened_library()
{
    if (auto library = gpu::CublasLt::open()) return library;
    throw Unsupported("libcublasLt was not found: install cuBLAS, or put its folder on LD_LIBRARY_PATH");
}

/// Memory for trials of a product.
class Bench {
  public:
    Bench(const gpu::ProductTypes& types, const gpu::ProductShape& shape)
        : left_(bytes(types.operands, shape.left), "trying a product"),
          right_(bytes(types.operands, shape.right), "trying a product"),
          result_(bytes(types.result, shape.result), "trying a product"),
          workspace_(gpu::Product::max_workspace, "trying a product"),
          bias_(shape.result.rows, "trying a product")
    {
        constexpr int filling = 0x3c;  // 0.0115 in fp32 and bf16, 1.06 in fp16
        for (const gpu::Buffer<std::byte>* matrix : {&left_, &right_})
            gpu::check(cudaMemset(matrix->data(), filling, matrix->bytes()));
        gpu::check(cudaMemset(bias_.data(), 0, bias_.bytes()));
        gpu::check(cudaDeviceSynchronize());
    }

    const void* bias() const { return bias_.data(); }
    void enqueue(const gpu::Product& product, int algorithm, const gpu::Stream& stream) const
    {
        product.enqueue(algorithm, left_.data(), right_.data(), result_.data(), workspace_.data(), workspace_.bytes(),
                        stream.get());
    }

  private:
    static std::size_t bytes(cudaDataType type, const gpu::ProductShape::Extent& extent)
    {
        return extent.rows * extent.columns * gpu::bytes_of(type);
    }

    gpu::Buffer<std::byte> left_, right_, result_, workspace_;
    gpu::Buffer<float> bias_;
};

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
            .workspace = chosen.product->workspace(chosen.algorithm),
            .implementation = "cublaslt",
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
        Chosen best{nullptr, 0, product.pass, fused};
        try {
            const auto tried = std::make_shared<gpu::Product>(library_, context_, types, shape, most);
            const Bench bench(types, shape);
            if (shape.epilogue != gpu::ProductShape::Epilogue::none) tried->set_bias(bench.bias());
            std::vector<std::function<void()>> runs;
            for (int algorithm = 0; algorithm < tried->algorithms() && (times_ || runs.empty()); ++algorithm)
                runs.emplace_back([&, algorithm] { bench.enqueue(*tried, algorithm, stream_); });
            const Fastest fastest = runs.empty() ? Fastest{} : fastest_of(stream_, runs);
            if (!runs.empty() && std::isfinite(fastest.cost)) {
                best.product = tried;
                best.algorithm = static_cast<int>(fastest.candidate);
            }
        } catch (const Unsupported&) {
            continue;  // no algorithm with that epilogue
        }
        if (best.product) return best;
    }
    throw Unsupported("cuBLASLt " + library_->version() + " knows no algorithm for a product of " +
                      std::to_string(product.batch) + " x " + std::to_string(product.inputs) + " to " +
                      std::to_string(product.outputs) + " on this GPU");
}

std::function<void()> Products::bound(const Multiply& operation, const Memory& memory) const
{
    const Chosen& chosen = chosen_[static_cast<std::size_t>(operation.plan)];
    void* const source = memory.at(operation.source);
    void* const weights = memory.at(operation.weights);
    void* const result = memory.at(operation.result);
    void* left = weights;
    void* right = source;
    void* written = result;
    if (chosen.pass == Pass::backward_data) {
        right = result;
        written = source;
    } else if (chosen.pass == Pass::backward_weights) {
        left = source;
        right = result;
        written = weights;
    }
    return [=, this, bias = memory.at(operation.bias), workspace = memory.at(operation.workspace),
            bytes = operation.workspace.elements()] {
        if (bias != nullptr) chosen.product->set_bias(bias);  // others may have the same product
        chosen.product->enqueue(chosen.algorithm, left, right, written, workspace, workspace == nullptr ? 0 : bytes,
                                stream_.get());
    };
}

}  // namespace roof::cudnn
