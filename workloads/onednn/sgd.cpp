// Stochastic gradient descent with momentum and weight decay, as PyTorch has it, on every parameter:
//   g += decay * p;   m = momentum * m + g;   p -= rate * m
// The momentum is zero at first, so the first step's m is g. One pass over all tensors: 6 FLOPs, 3 reads and 2 writes each.
#include "workloads/onednn/layers.hpp"
#include "workloads/onednn/parallel.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

struct Piece {
    float* value;
    const float* gradient;
    float* momentum;
    std::size_t count;
};

constexpr std::size_t piece_floats = 16384;  ///< three times 64 KiB: in a core's L2, and many more pieces than threads

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void descend(float* p, const float* g, float* m, float rate,
                                                                         std::size_t count)
{
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        m[i] = momentum * m[i] + (g[i] + weight_decay * p[i]);
        p[i] -= rate * m[i];
    }
}

/// The tensors' addresses are known only when the program runs.
void cut(std::vector<Piece>& pieces, const std::vector<Trained>& trained)
{
    for (const Trained& tensor : trained) {
        const std::size_t count = tensor.value.stored();
        for (std::size_t begin = 0; begin < count; begin += piece_floats) {
            pieces.push_back({tensor.value.data() + begin, tensor.gradient.data() + begin,
                              tensor.momentum.data() + begin, std::min(piece_floats, count - begin)});
        }
    }
}

}  // namespace

void sgd(Builder& build)
{
    build.program.begin("sgd", "sgd", Phase::update);
    for (int layer = 0; layer < static_cast<int>(build.graph.layers().size()); ++layer) {
        if (!build.is_image(layer)) build.add_work(build.work(layer).update);
    }
    std::vector<Tensor> used;
    for (const Trained& tensor : build.trained) {
        used.insert(used.end(), {tensor.value, tensor.gradient, tensor.momentum});
    }
    build.program.append(
        [trained = build.trained, rate = build.settings.learning_rate, pieces = std::vector<Piece>()]() mutable {
            if (pieces.empty()) cut(pieces, trained);
#pragma omp parallel for schedule(static)
            for (const Piece& piece : pieces) descend(piece.value, piece.gradient, piece.momentum, rate, piece.count);
        },
        used, "roof:sgd");
}

}  // namespace roof::onednn
