// Parameters, inputs and labels for parity tests. Any program in any language can compute the same bits.
//   mix(x): x^=x>>16; x*=0x7feb352d; x^=x>>15; x*=0x846ca68b; x^=x>>16      (32 bits)
//   u(seed,i) = (mix(mix(i)+seed*0x9E3779B9) >> 8) / 2^24 - 0.5             (exact, in [-0.5, 0.5))
#pragma once

#include "workloads/model/graph.hpp"

#include <cstdint>
#include <span>

namespace roof::model {

/// Mixes bits: each input bit changes about half of the output bits.
constexpr std::uint32_t mix(std::uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

/// Standard deviation of GPT-2's first embeddings and positions.
inline constexpr double embedding_deviation = 0.02;

double hashed_unit(std::uint32_t seed, std::uint32_t index);

/// value(i) = float(u(seed, i) * scale + offset).
struct HashedFill {
    std::uint32_t seed = 0;
    double scale = 0;
    double offset = 0;

    /// Sets values[k] to value(first + k).
    void fill(std::span<float> values, std::size_t first = 0) const;
};

/// Returns the recipe of graph.parameters()[k]: He-uniform weights (damped without batch norm), small last layer,
/// embeddings and positions uniform with their deviation, bias 0.1u, batch-norm weight 1 + 0.5u and bias 0.2u. The seed
/// is 100 + k. Throws std::out_of_range if k is too large.
HashedFill hashed_parameter(const Graph& graph, int k);
/// Seed 1, scale 2*sqrt(3): uniform values of variance 1 in NCHW order.
HashedFill hashed_input();
/// Uniform values of variance 1 for the k-th cache of keys and values of a network.
HashedFill hashed_cache(int k);
/// Returns (7 + 389 n) mod classes; n counts the positions of all images where each has a label.
int hashed_label(int n, int classes);
/// Token n of all sequences: mix(n) mod vocabulary.
int hashed_token(int n, int vocabulary);

}  // namespace roof::model
