// cuBLASLt's matrices are column-major: [rows][columns] here is columns x rows there. With W [o][i], X [n][i] and Y
// [n][o]:
//   forward  Y = W' X;   backward_data  X = W Y;   backward_weights  W = X Y'
#include "workloads/cudnn/library/products.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/event_timer.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace roof::cudnn {
namespace {

constexpr std::size_t workspace_limit = std::size_t{64} << 20;

void check_product(cublasStatus_t status, const char* what)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const std::string words = std::string(what) + " ended with cuBLAS status " + std::to_string(status);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) throw Unsupported(words);
    throw Error(words);
}

cudaDataType type_of(Precision precision)
{
    if (precision == Precision::bf16) return CUDA_R_16BF;
    return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

std::size_t bytes_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : 2;
}

std::shared_ptr<cublasLtContext> create()
{
    cublasLtHandle_t handle = nullptr;
    check_product(cublasLtCreate(&handle), "cublasLtCreate");
    return {handle, [](cublasLtHandle_t made) { cublasLtDestroy(made); }};
}

/// Rows and columns in cuBLASLt's order.
struct Extent {
    std::uint64_t rows, columns;
};

}  // namespace

/// Descriptors of one product: result = left * right.
struct Products::Matrices {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t left = nullptr;
    cublasLtMatrixLayout_t right = nullptr;
    cublasLtMatrixLayout_t written = nullptr;
    std::size_t left_bytes = 0;
    std::size_t right_bytes = 0;
    std::size_t written_bytes = 0;
    bool fused = false;

    Matrices(const Product& shape, bool with_epilogue) : fused(with_epilogue)
    {
        const auto inputs = static_cast<std::uint64_t>(shape.inputs);
        const auto outputs = static_cast<std::uint64_t>(shape.outputs);
        const auto batch = static_cast<std::uint64_t>(shape.batch);
        const Extent weights{inputs, outputs};
        const Extent source{inputs, batch};
        const Extent result{outputs, batch};
        const bool rounded = shape.precision == Precision::tf32;
        check_product(
            cublasLtMatmulDescCreate(&product, rounded ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
            "cublasLtMatmulDescCreate");
        const cudaDataType read = type_of(shape.precision);
        const cudaDataType write = type_of(shape.result_precision);
        switch (shape.pass) {
            case Pass::forward:
                transpose(CUBLASLT_MATMUL_DESC_TRANSA);
                lay_out(weights, source, result, read, write);
                break;
            case Pass::backward_data:
                lay_out(weights, result, source, read, write);
                break;
            case Pass::backward_weights:
                transpose(CUBLASLT_MATMUL_DESC_TRANSB);
                lay_out(source, result, weights, read, write);
                break;
        }
        if (with_epilogue && shape.bias) add_epilogue(shape.relu, write);
    }
    ~Matrices()
    {
        for (cublasLtMatrixLayout_t layout : {left, right, written}) {
            if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
        }
        if (product != nullptr) cublasLtMatmulDescDestroy(product);
    }
    Matrices(const Matrices&) = delete;
    Matrices& operator=(const Matrices&) = delete;

    void set_bias(const void* bias) const
    {
        check_product(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
                      "setting the bias");
    }

  private:
    void transpose(cublasLtMatmulDescAttributes_t which) const
    {
        const cublasOperation_t turned = CUBLAS_OP_T;
        check_product(cublasLtMatmulDescSetAttribute(product, which, &turned, sizeof(turned)),
                      "setting a transposition");
    }

    void lay_out(Extent a, Extent b, Extent d, cudaDataType read, cudaDataType write)
    {
        const auto make = [](cublasLtMatrixLayout_t* layout, cudaDataType type, Extent extent) {
            check_product(cublasLtMatrixLayoutCreate(layout, type, extent.rows, extent.columns,
                                                     static_cast<std::int64_t>(extent.rows)),
                          "cublasLtMatrixLayoutCreate");
            return extent.rows * extent.columns * bytes_of(type);
        };
        left_bytes = make(&left, read, a);
        right_bytes = make(&right, read, b);
        written_bytes = make(&written, write, d);
    }

    void add_epilogue(bool relu, cudaDataType type) const
    {
        const cublasLtEpilogue_t epilogue = relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
        check_product(
            cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)),
            "asking for an epilogue");
        check_product(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof(type)),
                      "setting the bias' type");
    }
};

namespace {

std::vector<cublasLtMatmulHeuristicResult_t> suggestions(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                                         const std::array<cublasLtMatrixLayout_t, 3>& layouts)
{
    constexpr int most = 12;
    cublasLtMatmulPreference_t preference = nullptr;
    check_product(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_limit,
                                         sizeof(workspace_limit));
    std::vector<cublasLtMatmulHeuristicResult_t> found(most);
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, product, layouts[0], layouts[1], layouts[2],
                                                                 layouts[2], preference, most, found.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    found.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
    std::erase_if(found, [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
    return found;
}

}  // namespace

std::string cublaslt_version()
{
    const std::size_t version = cublasLtGetVersion();
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

Products::Products(const gpu::Stream& stream, bool times) : stream_(stream), times_(times), handle_(create()) {}

Choice Products::choose(const Product& product)
{
    chosen_.push_back(find(product));
    const Chosen& chosen = chosen_.back();
    return {.plan = static_cast<int>(chosen_.size()) - 1,
            .workspace = chosen.workspace,
            .implementation = "cublaslt",
            .algorithm = "gemm",
            .winograd_tile = 0,
            .fused = chosen.matrices->fused};
}

/// Chooses an algorithm with bias and ReLU if there is one, else one without.
Products::Chosen Products::find(const Product& product)
{
    const float one = 1;
    const float zero = 0;
    for (const bool fused : {true, false}) {
        const auto matrices = std::make_shared<Matrices>(product, fused);
        const gpu::Buffer<std::byte> left(matrices->left_bytes, "trying a product");
        const gpu::Buffer<std::byte> right(matrices->right_bytes, "trying a product");
        const gpu::Buffer<std::byte> written(matrices->written_bytes, "trying a product");
        const gpu::Buffer<std::byte> workspace(workspace_limit, "trying a product");
        const gpu::Buffer<float> bias(static_cast<std::size_t>(product.outputs), "trying a product");
        constexpr int filling = 0x3c;  // 0.0115 in fp32 and bf16, 1.06 in fp16
        for (const gpu::Buffer<std::byte>* matrix : {&left, &right})
            gpu::check(cudaMemset(matrix->data(), filling, matrix->bytes()));
        gpu::check(cudaMemset(bias.data(), 0, bias.bytes()));
        gpu::check(cudaDeviceSynchronize());
        if (fused && product.bias) matrices->set_bias(bias.data());
        Chosen best{matrices, {}, 0, product.pass};
        Seconds least{std::numeric_limits<double>::infinity()};
        const gpu::EventTimer timer;
        for (const auto& suggestion :
             suggestions(handle_.get(), matrices->product, {matrices->left, matrices->right, matrices->written})) {
            const auto run = [&] {
                check_product(cublasLtMatmul(handle_.get(), matrices->product, &one, left.data(), matrices->left,
                                             right.data(), matrices->right, &zero, written.data(), matrices->written,
                                             written.data(), matrices->written, &suggestion.algo, workspace.data(),
                                             workspace_limit, stream_.get()),
                              "cublasLtMatmul");
            };
            try {
                timer.time(stream_, run);
                const Seconds seconds = std::min(timer.time(stream_, run), timer.time(stream_, run));
                if (seconds >= least) continue;
                least = seconds;
                best.algorithm = suggestion.algo;
                best.workspace = suggestion.workspaceSize;
                if (!times_) return best;
            } catch (const Error&) {
                continue;  // the heuristics suggest it, but the library refuses it
            }
        }
        if (least < Seconds{std::numeric_limits<double>::infinity()}) return best;
    }
    throw Unsupported("cuBLASLt " + cublaslt_version() + " knows no algorithm for a product of " +
                      std::to_string(product.batch) + " x " + std::to_string(product.inputs) + " to " +
                      std::to_string(product.outputs) + " on this GPU");
}

std::function<void()> Products::bound(const Multiply& operation, const Memory& memory) const
{
    const Chosen& chosen = chosen_[static_cast<std::size_t>(operation.plan)];
    const void* const source = memory.at(operation.source);
    const void* const weights = memory.at(operation.weights);
    const void* const result = memory.at(operation.result);
    const void* left = weights;
    const void* right = source;
    const void* written = result;
    if (chosen.pass == Pass::backward_data) {
        right = result;
        written = source;
    } else if (chosen.pass == Pass::backward_weights) {
        left = source;
        right = result;
        written = weights;
    }
    if (operation.bias) chosen.matrices->set_bias(memory.at(operation.bias));
    return [=, this, workspace = memory.at(operation.workspace), bytes = operation.workspace.elements()] {
        const float one = 1;
        const float zero = 0;
        const Matrices& matrices = *chosen.matrices;
        void* const to = const_cast<void*>(written);
        check_product(cublasLtMatmul(handle_.get(), matrices.product, &one, left, matrices.left, right, matrices.right,
                                     &zero, to, matrices.written, to, matrices.written, &chosen.algorithm, workspace,
                                     workspace == nullptr ? 0 : bytes, stream_.get()),
                      "cublasLtMatmul");
    };
}

}  // namespace roof::cudnn
