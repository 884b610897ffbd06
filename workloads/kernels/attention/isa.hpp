// The table of the attention loops, loops.hpp, as compiled for each instruction set.
#pragma once

#include "workloads/kernels/elements.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Queries, or keys, that are worked on at once.
inline constexpr int attention_block = 64;

/// One head of one image. `scale`: of the scores.
struct AttentionShape {
    int positions = 0;
    int channels = 0;
    float scale = 1;
    bool causal = false;
    int rows = 0;  ///< of the table of numbers that are added to scores; 0: none

    int blocks() const { return (positions + attention_block - 1) / attention_block; }
    /// Pairs of a query and a key in the blocks that the loops work on: of a causal attention all up to the query's own
    /// block.
    long long pairs() const
    {
        if (!causal) return 1LL * positions * positions;
        long long all = 0;
        for (int begin = 0; begin < positions; begin += attention_block) {
            const int end = positions - begin < attention_block ? positions : begin + attention_block;
            all += 1LL * (end - begin) * end;
        }
        return all;
    }
    /// Words that the forms of all keys and values take, and backward their gradients' sums.
    double kept_words(bool backward) const { return (backward ? 5.0 : 2.0) * positions * channels; }
    /// Of a head, if fewer are kept: forms are written once and read by each block of queries, sums read and written.
    double refetched_words(bool backward) const
    {
        const double blocks = static_cast<double>(pairs()) / (1.0 * positions * attention_block);
        return ((backward ? 7 : 2) * blocks + (backward ? 3 : 2)) * positions * channels;
    }
};

/// The channels of a head at each position, within a tensor. Channel c of position p is element
///   first + p * position + k / lanes * group + k % lanes,  k = channel + c
struct AttentionMap {
    Elements elements;
    std::ptrdiff_t first = 0;  ///< of the image
    std::ptrdiff_t position = 0, group = 0;
    int lanes = 1;
    int channel = 0;

    template <class Element>
    Element* at(int p, int c) const
    {
        const int k = channel + c;
        return elements.as<Element>() + first + p * position + k / lanes * group + k % lanes;
    }
};

/// The forward pass writes `results` and `logarithms`, which the backward pass reads.
struct AttentionTensors {
    AttentionMap queries, keys, values, results;
    float* logarithms = nullptr;  ///< of each query's sum of exponentials
    AttentionMap gradients;       ///< of the results
    AttentionMap to_queries, to_keys, to_values;
    const float* added = nullptr;  ///< to the scores, of the head in each row, `apart` from one to the next
    std::ptrdiff_t apart = 0;
    const int* places = nullptr;  ///< [query][key]: a row, or -1 where the key is hidden
    float* to_added = nullptr;    ///< [rows], to which a backward part adds its share
};

/// `parts` threads may share a head: part k takes each block of queries whose number is k modulo `parts`. `scratch`,
/// and what the parts add to the gradients of keys and values, are numbers at whole cache lines.
struct AttentionLoops {
    const char* name;
    std::ptrdiff_t (*scratch)(const AttentionShape& shape);
    std::ptrdiff_t (*gradients)(const AttentionShape& shape);  ///< numbers of one part
    void (*forward)(const AttentionShape& shape, const AttentionTensors& of, int part, int parts, float* scratch);
    /// Writes the gradient of the queries, and the part's share of those of keys and values.
    void (*backward)(const AttentionShape& shape, const AttentionTensors& of, int part, int parts, float* gradients,
                     float* scratch);
    /// Adds the shares of all parts, which follow one another, and writes the gradients of keys and values.
    void (*add_parts)(const AttentionShape& shape, const AttentionTensors& of, int parts, float* gradients);
};

extern const AttentionLoops attention_sse;
extern const AttentionLoops attention_avx2;
extern const AttentionLoops attention_avx512;
extern const AttentionLoops attention_avx512_bf16;
extern const AttentionLoops attention_amx_bf16;

/// The loops that this processor supports for tensors of this precision, the fastest first.
std::span<const AttentionLoops* const> attention_loops_here(Precision precision);

}  // namespace roof::kernels
