// cuBLASLt, NVIDIA's library of matrix products, opened at run time: it is hundreds of megabytes, and only one bench
// and the GPU's training engine need it.
#pragma once

#include "ert/gpu/library.hpp"

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct cublasLtContext;

namespace roof::gpu {

struct ProductTypes {
    cudaDataType operands;
    cudaDataType result;
    cudaDataType scale;
    int compute;             ///< cublasComputeType_t
    bool fast_sums = false;  ///< fp8: sums kept in fewer bits
};

/// cublasComputeType_t.
inline constexpr int compute_32f = 68;
inline constexpr int compute_64f = 70;
inline constexpr int compute_32i = 72;
inline constexpr int compute_tf32 = 77;

/// result = left * right, of matrices in column order. A transposed one is used as its transpose.
struct ProductShape {
    struct Extent {
        std::uint64_t rows = 0;
        std::uint64_t columns = 0;
        std::uint64_t leading = 0;  ///< elements from one column to the next; 0: rows
        std::uint64_t apart = 0;    ///< elements from a matrix to that of the next product
    };
    /// A bias has the type and the rows of the result. sums_of_right: the sum of each column of the right matrix, as it
    /// is multiplied, of the type and columns of the result; written where a bias would be read.
    /// bias_gelu: the sums are written to a matrix as the result, of its type; gelu_gradient: the result times the
    /// slope of GELU there. GELU by tanh; the library wants rows in eights.
    enum class Epilogue { none, bias, bias_relu, bias_gelu, gelu_gradient, sums_of_right };

    Extent left, right, result;
    bool transposes_left = false;
    bool transposes_right = false;
    Epilogue epilogue = Epilogue::none;
    bool adds = false;  ///< to what the result holds
    int products = 1;
    unsigned alignment = 256;  ///< bytes, of the matrices
};

class CublasLt {
  public:
    /// Null if the library is missing.
    static std::shared_ptr<const CublasLt> open(const std::vector<std::string>& names = {
                                                    "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});

    /// "13.1.0".
    std::string version() const;

    /// A context on the current device, for products. Throws Error.
    std::shared_ptr<cublasLtContext> context() const;

  private:
    friend class Product;
    explicit CublasLt(Library library) : library_(library) {}

    Library library_;
};

/// A product on the current device, with the algorithms that the library suggests for it, the likely fastest first.
class Product {
  public:
    static constexpr std::size_t max_workspace = std::size_t{64} << 20;

    /// `most`: algorithms to ask for. Throws Unsupported if the library does not know the product, or Error.
    Product(std::shared_ptr<const CublasLt> library, std::shared_ptr<cublasLtContext> context,
            const ProductTypes& types, const ProductShape& shape, int most);

    int algorithms() const { return static_cast<int>(algorithms_.size()); }
    /// Bytes of workspace that the algorithm needs, at most max_workspace.
    std::size_t workspace(int algorithm) const { return suggestion(algorithm).workspace; }
    /// For an epilogue, before the product is put into a stream. Throws Error.
    void set_bias(const void* bias) const;
    /// The matrix of what is before GELU, likewise.
    void set_before_gelu(const void* matrix) const;
    /// Puts the product into the stream. Throws Error.
    void enqueue(int algorithm, const void* left, const void* right, void* result, void* workspace,
                 std::size_t workspace_bytes, cudaStream_t stream) const;

  private:
    /// cublasLtMatmulAlgo_t, opaque.
    struct Algorithm {
        std::array<std::uint64_t, 8> data;
    };
    struct Suggestion {
        Algorithm algorithm;
        std::size_t workspace;
        int status;
        float waves;
        std::array<int, 4> reserved;
    };

    void describe(const ProductTypes& types, const ProductShape& shape);
    void set(int attribute, const void* value, std::size_t bytes, const char* what) const;
    void ask_for_algorithms(int most, std::uint32_t alignment);
    const Suggestion& suggestion(int algorithm) const { return algorithms_[static_cast<std::size_t>(algorithm)]; }

    std::shared_ptr<const CublasLt> library_;
    std::shared_ptr<cublasLtContext> context_;
    std::shared_ptr<void> product_, left_, right_, result_;
    cudaDataType scale_ = CUDA_R_32F;
    bool adds_ = false;
    std::vector<Suggestion> algorithms_;
};

}  // namespace roof::gpu
