// Prototypes and constants are those of cublasLt.h and cublas_api.h, the same in versions 12 and 13. Machines with the
// library may lack the headers.
#include "ert/gpu/cublaslt.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

/// cublasLtMatmulDescAttributes_t.
constexpr int attribute_transpose_a = 3;
constexpr int attribute_transpose_b = 4;
constexpr int attribute_epilogue = 7;
constexpr int attribute_bias = 8;
constexpr int attribute_second_result = 11;
constexpr int attribute_second_rows = 12;
constexpr int attribute_fast_sums = 25;
constexpr int preference_workspace = 1;
constexpr int first_preference_of_alignment = 5;  ///< of the left matrix; the right, and both results follow
/// cublasLtMatrixLayoutAttribute_t.
constexpr int attribute_products = 5;
constexpr int attribute_apart = 6;
constexpr std::int32_t as_transpose = 1;
/// cublasLtEpilogue_t, by ProductShape::Epilogue.
constexpr std::array<std::uint32_t, 6> epilogues{1, 4, 6, 164, 192, 512};

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

/// What the library makes with these arguments, until nobody needs it. `what`: its name without "Create" and "Destroy".
template <class... Arguments>
std::shared_ptr<void> make(const Library& library, const std::string& what, Arguments... arguments)
{
    void* made = nullptr;
    const std::string create = what + "Create";
    check(library.function<int(void**, Arguments...)>(create.c_str())(&made, arguments...), create.c_str());
    return {made, library.function<int(void*)>((what + "Destroy").c_str())};
}

}  // namespace

std::shared_ptr<const CublasLt> CublasLt::open(const std::vector<std::string>& names)
{
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

std::shared_ptr<cublasLtContext> CublasLt::context() const
{
    return std::static_pointer_cast<cublasLtContext>(make(library_, "cublasLt"));
}

Product::Product(std::shared_ptr<const CublasLt> library, std::shared_ptr<cublasLtContext> context,
                 const ProductTypes& types, const ProductShape& shape, int most)
    : library_(std::move(library)), context_(std::move(context)), scale_(types.scale), adds_(shape.adds)
{
    describe(types, shape);
    ask_for_algorithms(most, shape.alignment);
}

void Product::set(int attribute, const void* value, std::size_t bytes, const char* what) const
{
    using Set = int(void*, int, const void*, std::size_t);
    const auto set = library_->library_.function<Set>("cublasLtMatmulDescSetAttribute");
    check(set(product_.get(), attribute, value, bytes), what);
}

void Product::set_bias(const void* bias) const
{
    set(attribute_bias, &bias, sizeof(bias), "setting the bias");
}

void Product::set_before_gelu(const void* matrix) const
{
    set(attribute_second_result, &matrix, sizeof(matrix), "setting what is before GELU");
}

void Product::describe(const ProductTypes& types, const ProductShape& shape)
{
    const Library& library = library_->library_;
    product_ = make(library, "cublasLtMatmulDesc", types.compute, types.scale);
    constexpr const char* transposing = "setting a transposition";
    if (shape.transposes_left) set(attribute_transpose_a, &as_transpose, sizeof(as_transpose), transposing);
    if (shape.transposes_right) set(attribute_transpose_b, &as_transpose, sizeof(as_transpose), transposing);
    const std::int8_t fast = 1;
    if (types.fast_sums) set(attribute_fast_sums, &fast, sizeof(fast), "asking for fast sums");
    if (shape.epilogue != ProductShape::Epilogue::none) {
        const std::uint32_t epilogue = epilogues[static_cast<std::size_t>(shape.epilogue)];
        set(attribute_epilogue, &epilogue, sizeof(epilogue), "asking for an epilogue");
    }
    using enum ProductShape::Epilogue;
    if (shape.epilogue == bias_gelu || shape.epilogue == gelu_gradient) {
        const auto rows = static_cast<std::int64_t>(shape.result.rows);
        if (rows % 8 != 0) throw Unsupported("cuBLASLt applies GELU to rows in eights only");
        set(attribute_second_rows, &rows, sizeof(rows), "setting the rows before GELU");
    }
    const auto lay_out = [&](cudaDataType type, const ProductShape::Extent& extent) {
        const auto leading = static_cast<std::int64_t>(extent.leading != 0 ? extent.leading : extent.rows);
        std::shared_ptr<void> layout =
            make(library, "cublasLtMatrixLayout", type, extent.rows, extent.columns, leading);
        const auto set_layout =
            library.function<int(void*, int, const void*, std::size_t)>("cublasLtMatrixLayoutSetAttribute");
        const std::int32_t products = shape.products;
        const auto apart = static_cast<std::int64_t>(extent.apart);
        check(set_layout(layout.get(), attribute_products, &products, sizeof(products)), "setting how many products");
        check(set_layout(layout.get(), attribute_apart, &apart, sizeof(apart)), "setting how far matrices are apart");
        return layout;
    };
    left_ = lay_out(types.operands, shape.left);
    right_ = lay_out(types.operands, shape.right);
    result_ = lay_out(types.result, shape.result);
}

void Product::ask_for_algorithms(int most, std::uint32_t alignment)
{
    const Library& library = library_->library_;
    const std::shared_ptr<void> preference = make(library, "cublasLtMatmulPreference");
    const auto prefer = [&](int attribute, const auto& value) {
        const auto set =
            library.function<int(void*, int, const void*, std::size_t)>("cublasLtMatmulPreferenceSetAttribute");
        check(set(preference.get(), attribute, &value, sizeof(value)), "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(preference_workspace, max_workspace);
    for (int matrix = 0; matrix < 4; ++matrix) prefer(first_preference_of_alignment + matrix, alignment);
    const auto ask =
        library.function<int(cublasLtContext*, void*, void*, void*, void*, void*, void*, int, Suggestion*, int*)>(
            "cublasLtMatmulAlgoGetHeuristic");
    algorithms_.resize(static_cast<std::size_t>(most));
    int count = 0;
    check(ask(context_.get(), product_.get(), left_.get(), right_.get(), result_.get(), result_.get(), preference.get(),
              most, algorithms_.data(), &count),
          "cublasLtMatmulAlgoGetHeuristic");
    algorithms_.resize(static_cast<std::size_t>(count));
    std::erase_if(algorithms_, [](const Suggestion& suggestion) { return suggestion.status != 0; });
    if (algorithms_.empty()) throw Unsupported("cuBLASLt knows no algorithm for this product on this GPU");
}

void Product::enqueue(int algorithm, const void* left, const void* right, void* result, void* workspace,
                      std::size_t workspace_bytes, cudaStream_t stream) const
{
    const auto multiply =
        library_->library_
            .function<int(cublasLtContext*, void*, const void*, const void*, void*, const void*, void*, const void*,
                          const void*, void*, void*, void*, const Algorithm*, void*, std::size_t, cudaStream_t)>(
                "cublasLtMatmul");
    const Scale& of_result = adds_ ? one : zero;
    check(multiply(context_.get(), product_.get(), one.of(scale_), left, left_.get(), right, right_.get(),
                   of_result.of(scale_), result, result_.get(), result, result_.get(), &suggestion(algorithm).algorithm,
                   workspace, workspace_bytes, stream),
          "cublasLtMatmul");
}

}  // namespace roof::gpu
