// What a program has told cuBLASLt about a product, and whether that is a product at all.
#pragma once

#include "tests/emulated_gpu/device/card.hpp"

#include <cublasLt.h>

#include <cstdint>

namespace roof::emulated {

/// Of a matrix, column after column.
struct Layout {
    cudaDataType type;
    std::uint64_t rows, columns;
    std::int64_t leading;  ///< elements from one column to the next
    std::int32_t matrices = 1;
    std::int64_t apart = 0;  ///< elements from one matrix to the next

    std::size_t bytes() const;
    std::size_t at(std::uint64_t row, std::uint64_t column) const  ///< element
    {
        return static_cast<std::size_t>(column) * static_cast<std::size_t>(leading) + static_cast<std::size_t>(row);
    }
};

struct Description {
    cublasComputeType_t compute;
    cudaDataType scale;
    std::int32_t transposes_a = CUBLAS_OP_N;
    std::int32_t transposes_b = CUBLAS_OP_N;
    std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;    ///< of the result's type
    void* before_gelu = nullptr;   ///< a matrix of the result's type and columns
    std::int64_t before_rows = 0;  ///< elements from one of its columns to the next
    std::int8_t fast_sums = 0;

    bool has_bias() const { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
    /// Of the right matrix, over the inner extent.
    bool has_sums() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB; }
    bool has_relu() const { return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0; }
    bool has_gelu() const { return epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS; }
    bool has_gelu_gradient() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
};

struct Operands {
    Layout a, b, c, d;
};

std::size_t bytes_of(cudaDataType type);

/// CUBLAS_STATUS_INVALID_VALUE for what contradicts itself, CUBLAS_STATUS_NOT_SUPPORTED for what the real library does
/// not offer on the card, and for products that take the host too long. `fuses`: it offers bias and ReLU.
cublasStatus_t status_of(const Description& what, const Operands& with, const Card& card, bool fuses);

/// D = alpha A B + beta C, then bias and ReLU, on the host. All memory is there, and the status is success.
void multiply(const Description& what, const Operands& with, double alpha, double beta, const void* a, const void* b,
              const void* c, void* d);

}  // namespace roof::emulated
