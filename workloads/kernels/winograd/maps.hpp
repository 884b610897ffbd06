// The passes from one map to another of the same size, forward and backward to the source, as shared among threads.
//   Small weights: all are transformed first; then each thread goes through its tiles in pieces: their sources' transforms,
//   products point by point, results. A piece stays in the thread's L2, or is large enough for weights from afar to pay.
//   Large weights: all maps are transformed first; then each thread transforms a wide block of weights and uses it up at
//   once, so that transformed weights, four times as large as weights, never reach memory.
#pragma once

#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {

class WinogradMaps {
  public:
    /// `from`, `to`: channels.
    WinogradMaps(const WinogradLoops& loops, const ConvolutionShape& shape, int from, int to, int threads);

    std::size_t scratch() const;
    /// `make_weights`: one of the loops' two.
    void run(const float* x, const float* w, decltype(WinogradLoops::weights) make_weights, const WinogradEnd& end,
             float* y, float* scratch) const;

  private:
    struct Job;

    void by_tiles(const Job& job) const;
    void by_channels(const Job& job) const;
    /// Of tiles in a group of wide blocks. v, u: of the first of them; m: scratch.
    void results(const Job& job, const WinogradTiles& order, Range tiles, Range blocks, const float* v, const float* u,
                 float* m) const;
    WinogradTiles tiles(int thread, int threads) const;
    std::size_t slab() const;  ///< numbers of a wide block's transformed weights
    int wide_blocks() const;
    WinogradSpread spread(int tiles) const;
    WinogradSpread sums_spread(int tiles) const;
    /// A thread's sums, or the first if it is 0.
    float* sums_of(float* scratch, int thread) const;

    const WinogradLoops& loops_;
    ConvolutionShape shape_;
    int from_, to_;  ///< channels
    int threads_;
    WinogradTiles all_;
    int piece_ = 1;  ///< tiles that go through the products together
    int group_ = 1;  ///< wide blocks that do
    bool by_channels_ = false;
    std::size_t weights_ = 0, maps_ = 0, sums_ = 0;  ///< numbers of scratch: of all threads, of all threads, of each
};

}  // namespace roof::kernels
