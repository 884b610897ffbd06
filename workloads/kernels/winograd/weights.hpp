// The weights' gradient: at each of the 36 points a product of transformed maps and transformed gradients, summed over
// the tiles and shared among threads. Scratch holds both transforms of a piece of the batch, which fit an L3.
// One piece: each thread computes all 36 sums of its blocks of weights and their gradient at once.
// Several pieces: scratch holds the sums of all blocks from the first piece to the last.
#pragma once

#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {

class WinogradWeights {
  public:
    WinogradWeights(const WinogradLoops& loops, const ConvolutionShape& shape, const ConvolutionOptions& options);

    std::size_t scratch() const;
    void run(const Elements& x, const Elements& dy, float* dw, float* db, float* scratch) const;

  private:
    /// A transformed piece of the batch.
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
    /// One point's sums of one cell: a block of inputs by a wide block of outputs.
    void correlate(const Piece& piece, const Place& now, const Place& next, float* m) const;
    void finish_cells(const Piece& piece, Range cells, float* m, float* dw) const;
    /// A row is one block of inputs at one point.
    void add_to_sums(const Piece& piece, Range rows, float* m) const;
    void gradients_of_sums(const float* m, Range cells, float* dw) const;

    const WinogradLoops& loops_;
    ConvolutionShape shape_;
    int lanes_;
    int threads_;
    WinogradTiles tiles_;
    int piece_;                                        ///< tiles
    std::size_t apart_;                                ///< distance between the sums of two points
    std::size_t maps_, gradients_, sums_, bias_sums_;  ///< scratch numbers of all threads
};

}  // namespace roof::kernels
