// Matrices are column-major: a map's channels are the rows. With Q, K, V [channels][positions], of a head:
//   S = K' Q [keys][queries],  W = softmax of its columns,  result = V W
//   dW = V' dR,  dS from W, dW (attention_weights.cu),  dQ = K dS,  dK = Q dS',  dV = dR W'
// A head of keys serves some heads of queries: the products are those of the first of them of each head of keys, then
// of the second, and so on. Weights and slopes take the place of the scores that they are found from.
#include "workloads/cudnn/library/products.hpp"

#include "workloads/cudnn/kernels/kernels.hpp"

#include <algorithm>
#include <numeric>

namespace roof::cudnn {
namespace {

using Extent = gpu::ProductShape::Extent;

std::uint64_t extent(int count)
{
    return static_cast<std::uint64_t>(count);
}

std::uint64_t bytes_of_numbers(const AttentionPass& pass)
{
    return extent(traits(pass.precision).storage_bytes);
}

/// Of memory from which on cuBLASLt may read as it likes.
constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes)
{
    return up_to_multiple(bytes, alignment);
}

/// The scores of a head of queries for each head of keys, in bytes.
std::size_t score_bytes(const AttentionPass& pass)
{
    return aligned(extent(pass.kv_heads) * extent(pass.positions) * extent(pass.positions) * sizeof(float));
}

/// Channels of a position of the source.
std::uint64_t source_channels(const AttentionPass& pass)
{
    return extent(pass.heads + 2 * pass.kv_heads) * extent(pass.channels);
}

struct Matrices {
    explicit Matrices(const AttentionPass& pass)
    {
        const std::uint64_t channels = extent(pass.channels), positions = extent(pass.positions);
        const std::uint64_t group = extent(pass.heads / pass.kv_heads), row = source_channels(pass);
        const std::uint64_t narrow = sizeof(float) / bytes_of_numbers(pass);
        queries = {channels, positions, row, group * channels};
        keys = {channels, positions, row, channels};
        map = {channels, positions, extent(pass.heads) * channels, group * channels};
        scores = {positions, positions, positions, positions * positions};
        weights = {positions, positions, narrow * positions, narrow * positions * positions};
    }
    Extent queries, keys, map, scores, weights;
};

}  // namespace

cudaDataType type_of_numbers(Precision precision)
{
    if (precision == Precision::bf16) return CUDA_R_16BF;
    return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

AttentionProducts::AttentionProducts(const std::shared_ptr<const gpu::CublasLt>& library,
                                     const std::shared_ptr<cublasLtContext>& context, const AttentionPass& pass,
                                     bool rounded)
    : pass_(pass)
{
    constexpr int most = 1;  ///< algorithms of a product
    const Matrices of(pass);
    const cudaDataType numbers = type_of_numbers(pass.precision);
    const std::uint64_t head = bytes_of_numbers(pass) * extent(pass.channels);  // the parts of maps begin at heads
    const auto make = [&](std::optional<gpu::Product>& made, bool is_of_scores, const Extent& left, bool turns_left,
                          const Extent& right, bool turns_right, const Extent& result, bool adds = false) {
        const gpu::ProductTypes types{numbers, is_of_scores ? CUDA_R_32F : numbers, CUDA_R_32F,
                                      rounded ? gpu::compute_tf32 : gpu::compute_32f};
        made.emplace(library, context, types,
                     gpu::ProductShape{.left = left,
                                       .right = right,
                                       .result = result,
                                       .transposes_left = turns_left,
                                       .transposes_right = turns_right,
                                       .adds = adds,
                                       .products = pass.kv_heads,
                                       .alignment = static_cast<unsigned>(std::gcd(alignment, head))},
                     most);
        products_bytes_ = std::max(products_bytes_, aligned(made->workspace(0)));
    };
    make(scores_, true, of.keys, true, of.queries, false, of.scores);
    if (!pass.backward) {
        make(result_, false, of.keys, false, of.weights, false, of.map);
        return;
    }
    make(slopes_, true, of.keys, true, of.map, false, of.scores);
    make(to_queries_, false, of.keys, false, of.weights, false, of.queries);
    for (const bool adds : {false, true}) {
        make(adds ? add_to_keys_ : to_keys_, false, of.queries, false, of.weights, true, of.keys, adds);
        make(adds ? add_to_values_ : to_values_, false, of.map, false, of.weights, true, of.keys, adds);
    }
}

std::size_t AttentionProducts::workspace() const
{
    return products_bytes_ + score_bytes(pass_) * (pass_.backward ? 2 : 1);
}

/// The heads of queries of one turn, of an image: where their parts begin, and how to multiply them.
struct AttentionProducts::Step {
    Step(const AttentionProducts& by, const Tensor& tensor, const Memory& memory, int image, int turn, cudaStream_t to)
        : stream(to),
          workspace(memory.at<std::byte>(tensor)),
          workspace_bytes(by.products_bytes_),
          scores(workspace + workspace_bytes),
          slopes(scores + score_bytes(by.pass_))
    {
        const AttentionPass& pass = by.pass_;
        const std::uint64_t head = extent(pass.channels) * bytes_of_numbers(pass);
        const std::uint64_t heads = extent(pass.heads), positions = extent(pass.positions);
        source = extent(image) * positions * source_channels(pass) * bytes_of_numbers(pass);
        queries = source + extent(turn) * head;
        keys = source + heads * head;
        values = keys + extent(pass.kv_heads) * head;
        map = extent(image) * positions * heads * head + extent(turn) * head;
        of = {.scores = reinterpret_cast<float*>(scores),
              .image = extent(image),
              .first_head = static_cast<unsigned>(turn)};
    }
    void multiply(const std::optional<gpu::Product>& product, const void* left, const void* right, void* result) const
    {
        product->enqueue(0, left, right, result, workspace, workspace_bytes, stream);
    }

    cudaStream_t stream;
    std::byte* workspace;
    std::size_t workspace_bytes;
    std::byte *scores, *slopes;
    std::uint64_t source = 0, queries = 0, keys = 0, values = 0, map = 0;  ///< bytes from the begin of the maps
    ScoresOfHeads of;
};

void AttentionProducts::enqueue(const Attention& operation, const Memory& memory, cudaStream_t stream) const
{
    auto* const source = memory.at<std::byte>(operation.source);
    auto* const result = memory.at<std::byte>(operation.result);
    for (int image = 0; image < pass_.batch; ++image) {
        for (int turn = 0; turn < pass_.heads / pass_.kv_heads; ++turn) {
            const Step step(*this, operation.workspace, memory, image, turn, stream);
            step.multiply(scores_, source + step.keys, source + step.queries, step.scores);
            weigh_scores(operation, memory, step.of, stream);
            step.multiply(result_, source + step.values, step.scores, result + step.map);
        }
    }
}

void AttentionProducts::enqueue(const AttentionGradient& operation, const Memory& memory, cudaStream_t stream) const
{
    auto* const source = memory.at<std::byte>(operation.source);
    auto* const gradient = memory.at<std::byte>(operation.gradient);
    auto* const to = memory.at<std::byte>(operation.to_source);
    for (int image = 0; image < pass_.batch; ++image) {
        for (int turn = 0; turn < pass_.heads / pass_.kv_heads; ++turn) {
            Step step(*this, operation.workspace, memory, image, turn, stream);
            step.of.slopes = reinterpret_cast<float*>(step.slopes);
            step.multiply(scores_, source + step.keys, source + step.queries, step.scores);
            step.multiply(slopes_, source + step.values, gradient + step.map, step.slopes);
            slope_scores(operation, memory, step.of, stream);
            step.multiply(to_queries_, source + step.keys, step.slopes, to + step.queries);
            step.multiply(turn == 0 ? to_keys_ : add_to_keys_, source + step.queries, step.slopes, to + step.keys);
            step.multiply(turn == 0 ? to_values_ : add_to_values_, gradient + step.map, step.scores, to + step.values);
        }
    }
}

}  // namespace roof::cudnn
