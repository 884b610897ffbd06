// Chooses and runs the products of linear layers by cuBLASLt: times the suggested algorithms and keeps the fastest.
// Attention by products, too.
#pragma once

#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/engine/ir/list.hpp"
#include "workloads/engine/ir/operations.hpp"
#include "workloads/engine/ir/program.hpp"

#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

// Attention by whole matrices of scores: products of cuBLASLt for the heads of an image at once, and our kernels
// between them. For cards and precisions for which cuDNN has no attention.

/// As a product's operands are stored.
cudaDataType type_of_numbers(Precision precision);

class AttentionProducts {
  public:
    /// `rounded`: fp32 numbers as tf32. Throws Unsupported without an algorithm for one of the products, or Error.
    AttentionProducts(const std::shared_ptr<const gpu::CublasLt>& library,
                      const std::shared_ptr<cublasLtContext>& context, const AttentionPass& pass, bool rounded);

    /// Bytes: the scores of an image, backward their slopes too, and what the products need.
    std::size_t workspace() const;
    /// Enqueue the operation, which is of this pass. Throw Error.
    void enqueue(const Attention& operation, const Memory& memory, cudaStream_t stream) const;
    void enqueue(const AttentionGradient& operation, const Memory& memory, cudaStream_t stream) const;

  private:
    struct Step;

    AttentionPass pass_;
    std::size_t products_bytes_ = 0;  ///< that they need, one after the other
    std::optional<gpu::Product> scores_, result_;
    std::optional<gpu::Product> slopes_, to_queries_, to_keys_, to_values_, add_to_keys_, add_to_values_;
};

class Products {
  public:
    /// `times`: choose the fastest of the library's suggestions, else the first that runs. Throws Unsupported without
    /// the library, or Error.
    Products(const gpu::Stream& stream, bool times);

    /// Throws Unsupported if the library has no algorithm.
    Choice choose(const Product& product);
    /// Attention by products of whole matrices. `rounded`: use tf32. Throws Unsupported, too.
    Choice by_products(const AttentionPass& pass, bool rounded);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const Multiply& operation, const Memory& memory) const;
    /// An empty one for an operation that is not by products.
    template <class Operation>
    requires requires(const Operation& attention) { attention.by_products; }
    std::function<void()> bound(const Operation& operation, const Memory& memory) const
    {
        if (!operation.by_products) return {};
        return [this, operation, memory, by = attention_[static_cast<std::size_t>(operation.plan)]] {
            by->enqueue(operation, memory, stream_.get());
        };
    }

  private:
    struct Chosen {
        std::shared_ptr<gpu::Product> product;
        int algorithm = 0;
        bool fused = false;

        bool is_own() const { return algorithm == product->algorithms(); }  ///< our own kernel, after the library's
    };

    Chosen find(const Product& product);
    std::function<void()> running(const Chosen& chosen, const Multiply& operation, const Memory& memory) const;

    const gpu::Stream& stream_;
    bool times_;
    std::shared_ptr<const gpu::CublasLt> library_;
    std::shared_ptr<cublasLtContext> context_;
    std::map<Product, int> known_;
    std::vector<Chosen> chosen_;                                 ///< indexed by plan number
    std::vector<std::shared_ptr<AttentionProducts>> attention_;  ///< likewise
};

}  // namespace roof::cudnn
