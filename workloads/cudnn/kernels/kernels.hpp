// The step's own kernels. Each function enqueues one operation of a placed program in a stream of the current device.
// Results are bitwise reproducible. Throws Error if a launch fails, Unsupported for a tensor of 2^32 vectors or more.
#pragma once

#include "workloads/engine/ir/memory.hpp"
#include "workloads/engine/ir/operations.hpp"

#include <cuda_runtime_api.h>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

void enqueue(const ImportImages& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const ClearUnused& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AddBias& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Statistics& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Normalise& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const ReduceGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const NormGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Covariance& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MomentStatistics& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MomentGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MomentOffset& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Attention& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AttentionGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const LayerNorm& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const LayerNormGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AttendCached& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Embed& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const EmbedGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AddPositions& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AddPositionsGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const TakePositions& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MaskGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MaxPool& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const MaxPoolGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AveragePool& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const AveragePoolGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Resize& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const ResizeGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Activate& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const CopyChannels& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Scale& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const ScaleGradient& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Dropout& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Loss& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Widen& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const CheckFinite& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Descend& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Advance& operation, const Memory& memory, cudaStream_t stream);
void enqueue(const Turn& operation, const Memory& memory, cudaStream_t stream);

/// A forward product of at most so many rows, whose inputs are a multiple of 8, without GELU; it adds to nothing.
inline constexpr int most_few_rows = 8;
void multiply_few_rows(const Multiply& operation, const Memory& memory, cudaStream_t stream);

/// Blocks of AttendCached that the current device runs at once.
int cached_attention_blocks();

/// Of attention by whole matrices, fp32 [heads of keys][queries][keys]: for each head of keys of the image a head of
/// queries, the first of them `first_head`. Backward the slopes are the gradients of the weights, on entry.
struct ScoresOfHeads {
    float* scores = nullptr;
    float* slopes = nullptr;
    std::size_t image = 0;
    unsigned first_head = 0;
};
/// Writes `sums`, and each query's weights over its scores, in the precision of the maps.
void weigh_scores(const Attention& operation, const Memory& memory, const ScoresOfHeads& of, cudaStream_t stream);
/// Reads `sums`, the result and its gradient; writes the weights over the scores, and the scores' slopes over the
/// slopes.
void slope_scores(const AttentionGradient& operation, const Memory& memory, const ScoresOfHeads& of,
                  cudaStream_t stream);

}  // namespace roof::cudnn
