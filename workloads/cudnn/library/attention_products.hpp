// Attention by whole matrices of scores: products of cuBLASLt for the heads of an image at once, and our kernels
// between them. For cards and precisions for which cuDNN has no attention.
#pragma once

#include "ert/gpu/cublaslt.hpp"
#include "workloads/engine/ir/operations.hpp"
#include "workloads/engine/ir/program.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

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

}  // namespace roof::cudnn
