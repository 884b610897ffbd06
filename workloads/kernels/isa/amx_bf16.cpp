// The loops of attention for AMX, whose tiles hold 16 rows of 16 words. The rest is as for AVX-512 with the bf16 dot
// product.
#include "workloads/kernels/attention/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

// Applies to the code below: include no foreign header after it.
#pragma GCC target("arch=x86-64-v4,avx512bf16,amx-tile,amx-bf16")

#include "workloads/kernels/attention/loops.hpp"
#include "workloads/kernels/pairs.hpp"

namespace roof::kernels {

/// Products as VectorProducts has them, with rows, columns and depth in whole tiles.
class TileProducts : public MultiplyPairs {
  public:
    static constexpr int grain = 16;

    static void begin()
    {
        struct alignas(64) Configuration {
            unsigned char palette = 1, start_row = 0, reserved[14] = {};
            unsigned short bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        };
        const Configuration all;
        _tile_loadconfig(&all);
    }
    static void end() { _tile_release(); }

    static void product(const ProductSize& size, const WordRows& left, const WordRows& right, float* to,
                        std::ptrdiff_t apart, bool adds)
    {
        asm volatile("" : : : "memory");  // the intrinsics do not tell the compiler that they access memory
        for (int row = 0; row < size.rows; row += 32) {
            const WordRows from{left.at + row * left.apart, left.apart};
            for (int column = 0; column < size.columns; column += 32) {
                const WordRows by{right.at + column, right.apart};
                float* const sums = to + row * apart + column;
                const bool is_tall = row + 16 < size.rows;
                if (column + 16 < size.columns)
                    is_tall ? tiles<2, 2>(size.depth, from, by, sums, apart, adds)
                            : tiles<1, 2>(size.depth, from, by, sums, apart, adds);
                else
                    is_tall ? tiles<2, 1>(size.depth, from, by, sums, apart, adds)
                            : tiles<1, 1>(size.depth, from, by, sums, apart, adds);
            }
        }
        asm volatile("" : : : "memory");
    }

  private:
    /// Sums in tiles 0 to 3, rows of the left matrix in 4 and 5, of the right one in 6 and 7. Distances are in bytes.
    template <int tall, int wide>
    [[gnu::always_inline]] static void tiles(int depth, const WordRows& left, const WordRows& right, float* to,
                                             std::ptrdiff_t apart, bool adds)
    {
        const std::ptrdiff_t left_bytes = left.apart * 4, right_bytes = right.apart * 4, bytes = apart * 4;
        float* const below = to + 16 * apart;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        if (adds) {
            _tile_loadd(0, to, bytes);
            if constexpr (wide > 1) _tile_loadd(1, to + 16, bytes);
            if constexpr (tall > 1) _tile_loadd(2, below, bytes);
            if constexpr (tall > 1 && wide > 1) _tile_loadd(3, below + 16, bytes);
        }
        for (int k = 0; k < depth; k += 16) {
            const float* const by = right.at + k * right.apart;
            _tile_loadd(4, left.at + k, left_bytes);
            _tile_loadd(6, by, right_bytes);
            _tile_dpbf16ps(0, 4, 6);
            if constexpr (wide > 1) _tile_loadd(7, by + 16, right_bytes);
            if constexpr (wide > 1) _tile_dpbf16ps(1, 4, 7);
            if constexpr (tall > 1) _tile_loadd(5, left.at + 16 * left.apart + k, left_bytes);
            if constexpr (tall > 1) _tile_dpbf16ps(2, 5, 6);
            if constexpr (tall > 1 && wide > 1) _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, to, bytes);
        if constexpr (wide > 1) _tile_stored(1, to + 16, bytes);
        if constexpr (tall > 1) _tile_stored(2, below, bytes);
        if constexpr (tall > 1 && wide > 1) _tile_stored(3, below + 16, bytes);
    }
};

constinit const AttentionLoops attention_amx_bf16 = attention_loops<16, TileProducts>("roof:attention:amx_bf16");

}  // namespace roof::kernels
