// The gradient of the weights: at each of the 36 points a product of transformed maps and transformed gradients,
// summed over the tiles, as shared among threads. Both transforms of a piece of the batch lie in scratch, of a size
// that an L3 holds.
//   One piece: each thread makes all 36 sums of its blocks of weights, and from them their gradient, at once.
//   Several: the sums of all blocks lie in scratch from the first piece to the last.
#pragma once

#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {

class WinogradWeights {
  public:
    WinogradWeights(const WinogradLoops& loops, const ConvolutionShape& shape, int threads);

    std::size_t scratch() const;
    void run(const float* x, const float* dy, float* dw, float* db, float* scratch) const;

  private:
    /// A piece of the batch, transformed.
    struct Piece {
        const float* v;
        const float* z;
        WinogradSpread of_source, of_gradient;
        Range tiles;
        bool is_first;
    };

    struct Place {
        int point, input_block, wide_block;
    };

    bool at_once() const { return piece_ == tiles_.count(); }
    int input_blocks() const { return shape_.inputs / lanes_; }
    int wide_blocks() const { return shape_.outputs / (2 * lanes_); }
    std::size_t cell() const { return static_cast<std::size_t>(lanes_) * 2 * static_cast<std::size_t>(lanes_); }
    std::size_t cell_at(int input_block, int wide_block) const;
    WinogradSpread spread(int tiles, int channels, int wide) const;
    Piece piece(int first, float* scratch) const;
    WinogradPair pair(const Piece& piece, const Place& at) const;
    /// One point's sums of one cell, a block of inputs by a wide block of outputs.
    void correlate(const Piece& piece, const Place& now, const Place& next, float* m) const;
    void finish_cells(const Piece& piece, Range cells, float* m, float* dw) const;
    /// A row: at one point, of one block of inputs.
    void add_to_sums(const Piece& piece, Range rows, float* m) const;
    void gradients_of_sums(const float* m, Range cells, float* dw) const;

    const WinogradLoops& loops_;
    ConvolutionShape shape_;
    int lanes_;
    int threads_;
    WinogradTiles tiles_;
    int piece_;                                        ///< tiles
    std::size_t apart_;                                ///< numbers from one point's sums to the next
    std::size_t maps_, gradients_, sums_, bias_sums_;  ///< numbers of scratch of all threads
};

}  // namespace roof::kernels
