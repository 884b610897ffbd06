// The products of a step's linear layers by cuBLASLt on the current device: each algorithm that it suggests is timed once, and the
// fastest is bound to memory and run.
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

/// "13.1.0"
std::string cublaslt_version();

class Products {
  public:
    /// `times`: of the library's suggestions the fastest is taken, otherwise the first that runs. Throws Error.
    Products(const gpu::Stream& stream, bool times);

    /// Throws Unsupported if the library knows no algorithm.
    Choice choose(const Product& product);
    /// Puts the operation into the stream each time it is called.
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
