// Chooses and runs the products of linear layers by cuBLASLt: times the suggested algorithms and keeps the fastest.
#pragma once

#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/engine/ir/choose.hpp"
#include "workloads/engine/ir/program.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

class Products {
  public:
    /// `times`: choose the fastest of the library's suggestions, else the first that runs. Throws Unsupported without the library, or Error.
    Products(const gpu::Stream& stream, bool times);

    /// Throws Unsupported if the library has no algorithm.
    Choice choose(const Product& product);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const Multiply& operation, const Memory& memory) const;

  private:
    struct Chosen {
        std::shared_ptr<gpu::Product> product;
        int algorithm = 0;
        bool fused = false;
    };

    Chosen find(const Product& product);
    std::function<void()> running(const Chosen& chosen, const Multiply& operation, const Memory& memory) const;

    const gpu::Stream& stream_;
    bool times_;
    std::shared_ptr<const gpu::CublasLt> library_;
    std::shared_ptr<cublasLtContext> context_;
    std::map<Product, int> known_;
    std::vector<Chosen> chosen_;  ///< indexed by plan number
};

}  // namespace roof::cudnn
