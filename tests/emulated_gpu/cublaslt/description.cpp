#include "tests/emulated_gpu/cublaslt/description.hpp"

#include "tests/emulated_gpu/device/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

namespace roof::emulated {

namespace {

struct Types {
    cublasComputeType_t compute;
    cudaDataType scale, operands, result;
    int capability;  ///< from which on
    int multiple;    ///< of which all extents are
};

/// Those of the tables in cublasLtMatmul()'s documentation that the program uses.
constexpr std::array known{
    Types{CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 0, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0, 1},
    Types{CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 80, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 0, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, 0, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 80, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, 80, 1},
    Types{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, 89, 16},
    Types{CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 0, 4},
};

double number(cudaDataType type, const std::byte* at)
{
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    switch (type) {
        case CUDA_R_64F:
            return as(f64{});
        case CUDA_R_32F:
            return as(f32{});
        case CUDA_R_32I:
            return as(s32{});
        case CUDA_R_16F:
            return widen(as(f16{}));
        case CUDA_R_16BF:
            return widen(as(bf16{}));
        case CUDA_R_8I:
            return as(s8{});
        default:
            return element(Format::e4m3, at);
    }
}

void write(cudaDataType type, double value, std::byte* at)
{
    const auto put = [at](auto bits) { std::memcpy(at, &bits, sizeof(bits)); };
    switch (type) {
        case CUDA_R_64F:
            return put(value);
        case CUDA_R_32F:
            return put(static_cast<f32>(value));
        case CUDA_R_32I:
            return put(static_cast<s32>(static_cast<s64>(value)));
        case CUDA_R_16F:
            return put(narrow<f16>(value));
        default:
            return put(narrow<bf16>(value));
    }
}

/// [result's index][k], as the operation reads it.
std::vector<double> rows_of(const Layout& layout, bool by_columns, bool is_tf32, const void* memory)
{
    const auto* const bytes = static_cast<const std::byte*>(memory);
    const std::uint64_t outer = by_columns ? layout.columns : layout.rows;
    const std::uint64_t inner = by_columns ? layout.rows : layout.columns;
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(outer * inner));
    for (std::uint64_t i = 0; i < outer; ++i) {
        for (std::uint64_t k = 0; k < inner; ++k) {
            const std::byte* const at =
                bytes + (by_columns ? layout.at(k, i) : layout.at(i, k)) * bytes_of(layout.type);
            all.push_back(is_tf32 ? element(Format::tf32, at) : number(layout.type, at));
        }
    }
    return all;
}

bool is_matrix(const Layout& layout)
{
    return layout.rows > 0 && layout.columns > 0 && layout.leading >= static_cast<std::int64_t>(layout.rows);
}

bool is_same(const Layout& a, const Layout& b)
{
    return a.type == b.type && a.rows == b.rows && a.columns == b.columns && a.leading == b.leading &&
           a.matrices == b.matrices && a.apart == b.apart;
}

std::uint64_t inner_of(const Description& what, const Layout& a)
{
    return what.transposes_a == CUBLAS_OP_N ? a.columns : a.rows;
}

}  // namespace

std::size_t bytes_of(cudaDataType type)
{
    switch (type) {
        case CUDA_R_64F:
            return 8;
        case CUDA_R_32F:
        case CUDA_R_32I:
            return 4;
        case CUDA_R_16F:
        case CUDA_R_16BF:
            return 2;
        default:
            return 1;
    }
}

std::size_t Layout::bytes() const
{
    const auto before = static_cast<std::size_t>(matrices - 1) * static_cast<std::size_t>(apart);
    return (before + at(rows - 1, columns - 1) + 1) * bytes_of(type);
}

cublasStatus_t status_of(const Description& what, const Operands& with, const Card& card, bool fuses)
{
    const auto& [a, b, c, d] = with;
    if (!is_matrix(a) || !is_matrix(b) || !is_matrix(d) || !is_same(c, d)) return CUBLAS_STATUS_INVALID_VALUE;
    if (d.matrices < 1 || a.matrices != d.matrices || b.matrices != d.matrices) return CUBLAS_STATUS_INVALID_VALUE;
    const bool turns_a = what.transposes_a != CUBLAS_OP_N;
    const bool turns_b = what.transposes_b != CUBLAS_OP_N;
    const std::uint64_t k = inner_of(what, a);
    if ((turns_a ? a.columns : a.rows) != d.rows || (turns_b ? b.rows : b.columns) != d.columns ||
        (turns_b ? b.columns : b.rows) != k)
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto found = std::find_if(known.begin(), known.end(), [&](const Types& types) {
        return types.compute == what.compute && types.scale == what.scale && types.operands == a.type &&
               types.operands == b.type && types.result == d.type;
    });
    if (found == known.end() || 10 * card.major + card.minor < found->capability) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const std::uint64_t extent : {d.rows, d.columns, k}) {
        if (extent % static_cast<std::uint64_t>(found->multiple) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (a.type == CUDA_R_8F_E4M3 && (!turns_a || turns_b)) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (what.fast_sums != 0 && a.type != CUDA_R_8F_E4M3) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool is_whole = d.type == CUDA_R_32I || d.type == CUDA_R_64F;
    if (what.epilogue != CUBLASLT_EPILOGUE_DEFAULT && (!fuses || is_whole)) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool writes_two = what.has_gelu() || what.has_gelu_gradient();
    if (writes_two && (what.before_rows % 8 != 0 || what.before_rows < static_cast<std::int64_t>(d.rows)))
        return CUBLAS_STATUS_INVALID_VALUE;
    // Each product of several would have its own; the program asks for none.
    if (what.epilogue != CUBLASLT_EPILOGUE_DEFAULT && d.matrices > 1) return CUBLAS_STATUS_NOT_SUPPORTED;
    constexpr std::uint64_t most_products = 1ULL << 31;
    return d.rows * d.columns * k > most_products ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

/// By tanh, as the library computes it.
struct Gelu {
    explicit Gelu(double x)
    {
        const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3));
        const double half = 0.5 + 0.5 * std::tanh(inner);
        value = x * half;
        slope = half + x / 2 / std::pow(std::cosh(inner), 2) * std::sqrt(2 / std::numbers::pi) * (1 + 0.134145 * x * x);
    }
    double value, slope;
};

namespace {

void multiply_one(const Description& what, const Operands& with, double alpha, double beta, const void* a,
                  const void* b, const void* c, void* d)
{
    const bool is_tf32 = what.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const std::vector<double> left = rows_of(with.a, what.transposes_a != CUBLAS_OP_N, is_tf32, a);
    const std::vector<double> right = rows_of(with.b, what.transposes_b == CUBLAS_OP_N, is_tf32, b);
    const auto k = static_cast<std::size_t>(inner_of(what, with.a));
    const std::size_t width = bytes_of(with.d.type);
    for (std::uint64_t column = 0; what.has_sums() && column < with.d.columns; ++column) {
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) sum += right[column * k + i];
        write(with.d.type, sum, static_cast<std::byte*>(const_cast<void*>(what.bias)) + column * width);
    }
    for (std::uint64_t column = 0; column < with.d.columns; ++column) {
        for (std::uint64_t row = 0; row < with.d.rows; ++row) {
            const double* const x = left.data() + row * k;
            const double* const y = right.data() + column * k;
            double sum = 0;
            for (std::size_t i = 0; i < k; ++i) sum += x[i] * y[i];
            sum *= alpha;
            const std::size_t at = with.d.at(row, column) * width;
            if (beta != 0) sum += beta * number(with.c.type, static_cast<const std::byte*>(c) + at);
            if (what.has_bias()) sum += number(with.d.type, static_cast<const std::byte*>(what.bias) + row * width);
            if (what.has_relu()) sum = std::max(sum, 0.0);
            if (what.has_gelu() || what.has_gelu_gradient()) {
                auto* const before = static_cast<std::byte*>(what.before_gelu) +
                                     (column * static_cast<std::size_t>(what.before_rows) + row) * width;
                if (what.has_gelu()) write(with.d.type, sum, before);
                const Gelu gelu(what.has_gelu() ? sum : number(with.d.type, before));
                sum = what.has_gelu() ? gelu.value : sum * gelu.slope;
            }
            write(with.d.type, sum, static_cast<std::byte*>(d) + at);
        }
    }
}

}  // namespace

void multiply(const Description& what, const Operands& with, double alpha, double beta, const void* a, const void* b,
              const void* c, void* d)
{
    const auto at = [](auto* memory, const Layout& layout, std::int32_t matrix) {
        using Byte =
            std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(memory)>>, const std::byte, std::byte>;
        const auto before = static_cast<std::size_t>(matrix) * static_cast<std::size_t>(layout.apart);
        return memory == nullptr ? nullptr : static_cast<Byte*>(memory) + before * bytes_of(layout.type);
    };
    for (std::int32_t matrix = 0; matrix < with.d.matrices; ++matrix)
        multiply_one(what, with, alpha, beta, at(a, with.a, matrix), at(b, with.b, matrix), at(c, with.c, matrix),
                     at(d, with.d, matrix));
}

}  // namespace roof::emulated
