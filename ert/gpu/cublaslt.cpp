// Prototypes and constants are those of cublasLt.h and cublas_api.h, the same in versions 12 and 13. Machines with the
// library may lack the headers.
#include "ert/gpu/cublaslt.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

constexpr int attribute_transpose_a = 3;
constexpr int attribute_fast_sums = 25;
constexpr int preference_workspace = 1;
constexpr int transposed = 1;

void check(int status, const char* what)
{
    if (status == 0) return;
    constexpr int not_supported = 15;
    const std::string words = std::string(what) + " ended with cuBLAS status " + std::to_string(status);
    if (status == not_supported) throw Unsupported("cuBLASLt offers no such product on this GPU (" + words + ")");
    throw Error(words);
}

/// A scale in each type.
struct Scale {
    double as_double;
    float as_float;
    std::int32_t as_int;

    const void* of(cudaDataType type) const
    {
        if (type == CUDA_R_64F) return &as_double;
        return type == CUDA_R_32I ? static_cast<const void*>(&as_int) : &as_float;
    }
};

constexpr Scale one{1, 1, 1};
constexpr Scale zero{0, 0, 0};

}  // namespace

std::shared_ptr<const CublasLt> CublasLt::open()
{
    const std::array<std::string, 3> names{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    const std::optional<Library> library = Library::open(names);
    if (!library) return nullptr;
    return std::shared_ptr<const CublasLt>(new CublasLt(*library));
}

std::string CublasLt::version() const
{
    const std::size_t version = library_.function<std::size_t()>("cublasLtGetVersion")();
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

Product::Product(std::shared_ptr<const CublasLt> library, const ProductTypes& types, std::uint64_t n)
    : library_(std::move(library)), scale_(types.scale)
{
    const auto create = library_->library_.function<int(cublasLtContext**)>("cublasLtCreate");
    check(create(&handle_), "cublasLtCreate");
    describe(types, n);
    ask_for_algorithms();
}

Product::~Product()
{
    const Library& library = library_->library_;
    if (product_ != nullptr) library.function<int(void*)>("cublasLtMatmulDescDestroy")(product_);
    for (void* layout : {operands_, result_}) {
        if (layout != nullptr) library.function<int(void*)>("cublasLtMatrixLayoutDestroy")(layout);
    }
    if (handle_ != nullptr) library.function<int(cublasLtContext*)>("cublasLtDestroy")(handle_);
}

void Product::describe(const ProductTypes& types, std::uint64_t n)
{
    const Library& library = library_->library_;
    const auto create = library.function<int(void**, int, cudaDataType)>("cublasLtMatmulDescCreate");
    check(create(&product_, types.compute, types.scale), "cublasLtMatmulDescCreate");
    const auto set = library.function<int(void*, int, const void*, std::size_t)>("cublasLtMatmulDescSetAttribute");
    const std::int32_t turn = transposed;
    check(set(product_, attribute_transpose_a, &turn, sizeof(turn)), "setting the transposition");
    const std::int8_t fast = 1;
    if (types.fast_sums) check(set(product_, attribute_fast_sums, &fast, sizeof(fast)), "asking for fast sums");
    const auto layout = library.function<int(void**, cudaDataType, std::uint64_t, std::uint64_t, std::int64_t)>(
        "cublasLtMatrixLayoutCreate");
    check(layout(&operands_, types.operands, n, n, static_cast<std::int64_t>(n)), "cublasLtMatrixLayoutCreate");
    check(layout(&result_, types.result, n, n, static_cast<std::int64_t>(n)), "cublasLtMatrixLayoutCreate");
}

void Product::ask_for_algorithms()
{
    constexpr int most = 8;
    const Library& library = library_->library_;
    void* preference = nullptr;
    check(library.function<int(void**)>("cublasLtMatmulPreferenceCreate")(&preference),
          "cublasLtMatmulPreferenceCreate");
    const auto set =
        library.function<int(void*, int, const void*, std::size_t)>("cublasLtMatmulPreferenceSetAttribute");
    const std::size_t bytes = workspace_bytes;
    int status = set(preference, preference_workspace, &bytes, sizeof(bytes));
    const auto ask =
        library.function<int(cublasLtContext*, void*, void*, void*, void*, void*, void*, int, Suggestion*, int*)>(
            "cublasLtMatmulAlgoGetHeuristic");
    std::array<Suggestion, most> suggestions{};
    int count = 0;
    if (status == 0)
        status = ask(handle_, product_, operands_, operands_, result_, result_, preference, most, suggestions.data(),
                     &count);
    library.function<int(void*)>("cublasLtMatmulPreferenceDestroy")(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < count; ++i) {
        const Suggestion& suggestion = suggestions[static_cast<std::size_t>(i)];
        if (suggestion.status == 0) algorithms_.push_back(suggestion.algorithm);
    }
    if (algorithms_.empty()) throw Unsupported("cuBLASLt knows no algorithm for this product on this GPU");
}

void Product::enqueue(int algorithm, const void* a, const void* b, void* d, void* workspace, cudaStream_t stream) const
{
    const auto multiply =
        library_->library_
            .function<int(cublasLtContext*, void*, const void*, const void*, void*, const void*, void*, const void*,
                          const void*, void*, void*, void*, const Algorithm*, void*, std::size_t, cudaStream_t)>(
                "cublasLtMatmul");
    check(multiply(handle_, product_, one.of(scale_), a, operands_, b, operands_, zero.of(scale_), d, result_, d,
                   result_, &algorithms_[static_cast<std::size_t>(algorithm)], workspace, workspace_bytes, stream),
          "cublasLtMatmul");
}

}  // namespace roof::gpu
