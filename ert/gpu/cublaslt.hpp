// cuBLASLt, NVIDIA's library of matrix products, opened at run time: it is hundreds of megabytes, and only one bench
// needs it.
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

/// Types of a product D = A' * B of n x n matrices in column order.
struct ProductTypes {
    cudaDataType operands;
    cudaDataType result;
    cudaDataType scale;
    int compute;             ///< cublasComputeType_t
    bool fast_sums = false;  ///< fp8: sums kept in fewer bits
};

class CublasLt {
  public:
    /// Null if the library is missing.
    static std::shared_ptr<const CublasLt> open();

    /// "13.1.0".
    std::string version() const;

  private:
    friend class Product;
    explicit CublasLt(Library library) : library_(library) {}

    Library library_;
};

/// A product on the current device, with the algorithms that the library suggests for it.
class Product {
  public:
    static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

    /// Throws Unsupported if the library knows no algorithm, or Error.
    Product(std::shared_ptr<const CublasLt> library, const ProductTypes& types, std::uint64_t n);
    ~Product();
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;

    int algorithms() const { return static_cast<int>(algorithms_.size()); }
    /// Puts D = A' * B into the stream. `workspace` has workspace_bytes. Throws Error.
    void enqueue(int algorithm, const void* a, const void* b, void* d, void* workspace, cudaStream_t stream) const;

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

    void describe(const ProductTypes& types, std::uint64_t n);
    void ask_for_algorithms();

    std::shared_ptr<const CublasLt> library_;
    cublasLtContext* handle_ = nullptr;
    void* product_ = nullptr;
    void* operands_ = nullptr;
    void* result_ = nullptr;
    cudaDataType scale_ = CUDA_R_32F;
    std::vector<Algorithm> algorithms_;
};

}  // namespace roof::gpu
