// Chooses and runs the products of linear layers by cuBLASLt: times the suggested algorithms and keeps the fastest.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/program/choose.hpp"
#include "workloads/cudnn/program/program.hpp"

#include <cublasLt.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roof::cudnn {

/// Returns "13.1.0".
std::string cublaslt_version();

class Products {
  public:
    /// `times`: choose the fastest of the library's suggestions, else the first that runs. Throws Error.
    Products(const gpu::Stream& stream, bool times);

    /// Throws Unsupported if the library has no algorithm.
    Choice choose(const Product& product);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const Multiply& operation, const Memory& memory) const;

  private:
    struct Matrices;
    struct Chosen {
        std::shared_ptr<Matrices> matrices;
        cublasLtMatmulAlgo_t algorithm;
        std::size_t workspace;
        Pass pass;
    };

    Chosen find(const Product& product);

    const gpu::Stream& stream_;
    bool times_;
    std::shared_ptr<cublasLtContext> handle_;
    std::vector<Chosen> chosen_;
};

}  // namespace roof::cudnn
