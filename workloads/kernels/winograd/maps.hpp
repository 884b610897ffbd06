// The forward and backward_data passes between maps of one size, shared among threads.
// Small weights: all weights are transformed first. Each thread then takes its tiles in pieces: source transform,
// products point by point, results. A piece fits the L2, or is large enough to amortise weights from outside it.
// Large weights: all maps are transformed first. Each thread then transforms a wide block of weights and uses it at
// once, because transformed weights are four times as large and must not reach memory.
#pragma once

#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {

class WinogradMaps {
  public:
    WinogradMaps(const WinogradLoops& loops, Pass pass, const ConvolutionShape& shape,
                 const ConvolutionOptions& options);

    std::size_t scratch() const;
    /// `bias`: [result channels] or null.
    void run(const Elements& x, const float* w, const float* bias, const Elements& y, float* scratch) const;

  private:
    struct Job;

    void by_tiles(const Job& job) const;
    void by_channels(const Job& job) const;
    /// Computes tiles in a group of wide blocks. v, u: of the first tile and block; m: scratch.
    void results(const Job& job, const WinogradTiles& order, Range tiles, Range blocks, const float* v, const float* u,
                 float* m) const;
    WinogradTiles tiles(int thread, int threads) const;
    std::size_t slab() const;  ///< numbers of a wide block's transformed weights
    int wide_blocks() const;
    WinogradSpread spread(int tiles) const;
    WinogradSpread sums_spread(int tiles) const;
    /// One thread's sums, or the first sums if it is 0.
    float* sums_of(float* scratch, int thread) const;

    const WinogradLoops& loops_;
    bool is_backward_;
    bool relu_;
    ConvolutionShape shape_;
    int from_, to_;  ///< channel counts
    int threads_;
    WinogradTiles all_;
    int piece_ = 1;  ///< tiles per call of the products
    int group_ = 1;  ///< wide blocks per call of the products
    bool by_channels_ = false;
    std::size_t weights_ = 0, maps_ = 0, sums_ = 0;  ///< scratch numbers: total, total, per thread
};

}  // namespace roof::kernels
