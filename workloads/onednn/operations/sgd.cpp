// Stochastic gradient descent with momentum and weight decay, as in PyTorch, for every parameter:
//   g += decay * p;   m = momentum * m + g;   p -= rate * m
// The momentum starts at zero. One pass over all tensors: 6 FLOPs, 3 reads and 2 writes per number. Or AdamW, as
// formulas.hpp has it: 14 FLOPs, 4 reads and 3 writes.
#include "workloads/engine/ir/formulas.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

struct Piece {
    float* value;
    const float* gradient;
    float* momentum;
    float* square;
    std::size_t count;
};

constexpr std::size_t piece_floats = 16384;  ///< four tensors of 64 KiB fit an L2, and there are far more pieces than
                                             ///< threads

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void descend(float* p, const float* g, float* m,
                                                                                   float rate, std::size_t count)
{
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        m[i] = momentum * m[i] + (g[i] + weight_decay * p[i]);
        p[i] -= rate * m[i];
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void adapt(const Piece& piece,
                                                                                 const engine::AdamShares& shares,
                                                                                 float rate)
{
    const engine::AdamShares own = shares;  // or each store might change it
    float* const p = piece.value;
    const float* const g = piece.gradient;
    float* const m = piece.momentum;
    float* const v = piece.square;
    const std::size_t count = piece.count;
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        const ir::Adapted next = ir::adapt({p[i], m[i], v[i]}, g[i], own, rate);
        p[i] = next.value;
        m[i] = next.mean;
        v[i] = next.square;
    }
}

/// The tensors' addresses are known only at run time.
void cut(std::vector<Piece>& pieces, const std::vector<Trained>& trained)
{
    for (const Trained& tensor : trained) {
        const std::size_t count = tensor.value.stored();
        for (std::size_t begin = 0; begin < count; begin += piece_floats) {
            pieces.push_back({tensor.value.data() + begin, tensor.gradient.data() + begin,
                              tensor.momentum.data() + begin, tensor.square ? tensor.square.data() + begin : nullptr,
                              std::min(piece_floats, count - begin)});
        }
    }
}

}  // namespace

void bind(Binding& to, const ir::Descend& operation)
{
    std::vector<Trained> stored;
    std::vector<Tensor> used;
    for (const Trained& tensor : to.trained) {
        if (tensor.factors) continue;
        stored.push_back(tensor);
        used.insert(used.end(), {tensor.value, tensor.gradient, tensor.momentum, tensor.square});
    }
    to.program.append(
        [stored, rate = operation.learning_rate, &state = to.state, pieces = std::vector<Piece>()]() mutable {
            if (pieces.empty()) cut(pieces, stored);
#pragma omp parallel for schedule(static)
            for (const Piece& piece : pieces) {
                if (piece.square != nullptr)
                    adapt(piece, state.adam, rate);
                else
                    descend(piece.value, piece.gradient, piece.momentum, rate, piece.count);
            }
        },
        used, operation.squares ? "roof:adamw" : "roof:sgd");
    for (const Trained& tensor : stored) {
        // Both have one layout, and oneDNN 3.7 reorders rows with gaps as if they were contiguous.
        if (tensor.copy) to.program.copy(tensor.value, tensor.copy, "roof:round");
    }
}

}  // namespace roof::onednn
