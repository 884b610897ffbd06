// The operations among the positions of a map, or the tokens of a sequence, and those over the channels of each.
#pragma once

#include "workloads/engine/ir/tensor.hpp"

#include <algorithm>
#include <optional>

namespace roof::ir {

/// Layer norm over the channels of each position: result = (source - mean) * inverse_deviation * weight + bias. Without
/// mean and bias an RMS norm: 0 takes the place of the mean. With `other`, its source is the sum of both, which it
/// writes to `sum`.
struct LayerNorm {
    Tensor source{}, weight{}, bias{};
    Tensor other{}, sum{};
    Tensor mean{}, inverse_deviation{};  ///< fp32, of each position
    Tensor result{};
    float epsilon = 0;
};

/// From the gradient of its result: that of the source, which may overwrite it, and those of bias, if it has one, and
/// weight.
struct LayerNormGradient {
    Tensor gradient{}, source{}, weight{};
    Tensor mean{}, inverse_deviation{};
    Tensor result{};
    Tensor sum{}, sum_of_products{};  ///< gradients of bias and weight, fp32
    Tensor partial{};                 ///< sums of slabs of positions
};

/// Row p of the result is the row of the weights, [tokens][channels], whose number is token p. `tokens`: fp32, one
/// channel.
struct Embed {
    Tensor tokens{}, weights{}, result{};
};

/// Adds the gradient of each position, of the result, to the row of its token, of the weights, fp32; in the order of
/// the positions. `adds`: to the numbers that are there, else to zeros.
struct EmbedGradient {
    Tensor tokens{}, gradient{}, weights{};
    bool adds = false;
};

/// result = source + weights, [positions][channels] from `first` on, for each image; positions behind those of the
/// weights are copied.
struct AddPositions {
    Tensor source{}, weights{}, result{};
    int first = 0;
};

/// The gradient of the weights, fp32: the sum over the images, whose first position is the weights' first; zeros behind
/// their last.
struct AddPositionsGradient {
    Tensor gradient{}, weights{};
};

/// Position p of an image of the result is position p + first of the source; zeros where that has none. With `order`,
/// int32, place k of it is place order[k]: positions of the one with fewer channels, pieces of the other's.
struct TakePositions {
    Tensor source{}, result{};
    int first = 0;
    Tensor order{};

    int piece() const { return std::min(source.channels, result.channels); }
};

/// What attention adds to its scores, in each of `windows` parts of an image's positions, each by itself. `rows`: the
/// trained numbers, [rows][heads]; `places`: int32, [windows or 1][queries][keys], their row, or -1 where the key is
/// hidden. None: adds nothing.
struct AddedScores {
    Tensor rows{}, places{};
    int windows = 1;
};

/// softmax(q k' / sqrt(d)) v among the positions of an image, for each head, of d channels. The source has the channels
/// of queries, and of the `kv_heads` heads of keys and of values, each of which serves heads / kv_heads neighbouring
/// heads of queries. `sums`: fp32 [images][heads][queries], the logarithm of the sum of a query's exponentials. `plan`:
/// of a library, that of products if `by_products`; else our own kernels, which alone have `added`.
struct Attention {
    Tensor source{}, result{}, sums{}, workspace{};
    int heads = 1, kv_heads = 1;
    bool causal = false;
    bool by_products = false;
    int plan = -1;
    AddedScores added{};
};

/// Reads the gradient of `result`, and what the forward pass read and wrote; writes the gradient of the source.
/// `products`: fp32, as `sums`, scratch: each query's result times its gradient. `to_queries`: of a library whose sums
/// have no order, fp32 scratch. `to_rows`: the gradient of the added rows, fp32.
struct AttentionGradient {
    Tensor gradient{}, source{}, result{}, sums{};
    Tensor to_source{}, products{}, to_queries{}, workspace{};
    int heads = 1, kv_heads = 1;
    bool causal = false;
    bool by_products = false;
    int plan = -1;
    AddedScores added{};
    Tensor to_rows{};
};

/// Attention of one position of each image over the positions of a cache, of which it is the last, for each head as in
/// Attention. The source has queries of `heads` heads, and keys and values of `kv_heads`, which go to the cache,
/// [images][kv_heads][keys, values] [positions][channels of a head]; each of these serves heads / kv_heads heads of
/// queries. With `angles`, as in Turn, it first turns the queries and keys of the source.
struct AttendCached {
    Tensor source{}, cache{}, result{};
    int heads = 1, kv_heads = 1;
    Tensor partial{};  ///< none: a cache is read as a whole; else of partial_attention_of()
    Tensor angles{};
};

/// What pieces of a long cache give, fp32 [images][heads][pieces][channels of a head, largest score and total], without
/// memory. Pieces have 256 positions, or as few, down to 64, as give the executor the `blocks` that it runs at once.
/// None where the cache is short, where there are more heads than counters, or for an executor without blocks.
inline std::optional<Tensor> partial_attention_of(const AttendCached& all, int blocks)
{
    constexpr int usual = 256, least = 64, most_pieces = 64, most_heads = 1024, heads_at_once = 4;
    const int caches = all.cache.batch * all.kv_heads * ((all.heads / all.kv_heads - 1) / heads_at_once + 1);
    const int wanted = std::max((all.cache.width - 1) / usual + 1, blocks / caches);
    const int pieces = std::min({wanted, (all.cache.width - 1) / least + 1, most_pieces});
    if (blocks == 0 || pieces <= 1 || all.cache.batch * all.heads > most_heads) return std::nullopt;
    return Tensor{.batch = all.cache.batch,
                  .channels = all.result.channels / all.heads + 2,
                  .height = pieces,
                  .width = all.heads};
}

/// In each of the source's first `heads` heads, of d channels, channels c and c + d / 2 of a position are turned as a
/// point in a plane: (x cos - y sin, y cos + x sin), with `back` by the negative angle. The other channels are copied.
/// The result may overwrite the source.
struct Turn {
    Tensor source{}, result{};
    Tensor angles{};  ///< fp32 [2][positions of an image][d / 2]: their cosines, then their sines
    int heads = 1;
    bool back = false;
};

}  // namespace roof::ir
