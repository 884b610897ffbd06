// The passes from one map to another of the same size, forward and backward to the source, as shared among threads.
//   Small weights: all are transformed first; then each thread goes through its tiles in pieces whose transforms stay in its L2.
//   Large weights: all maps are transformed first; then each thread transforms a wide block of weights and uses it up at
//   once, so that transformed weights, four times as large as weights, never reach memory.
#pragma once

#include "workloads/onednn/loops/winograd_isa.hpp"

namespace roof::onednn {

class WinogradMaps {
  public:
    /// `from`, `to`: channels.
    WinogradMaps(const WinogradLoops& loops, const WinogradShape& shape, int from, int to, int threads);

    std::size_t scratch() const;
    /// `make_weights`: one of the loops' two.
    void run(const float* x, const float* w, decltype(WinogradLoops::weights) make_weights, const WinogradEnd& end,
             float* y, float* scratch) const;

  private:
    struct Job;

    void by_tiles(const Job& job) const;
    void by_channels(const Job& job) const;
    std::size_t slab() const;
    int wide_blocks() const;
    WinogradSpread spread(int tiles) const;
    /// A thread's sums, or the first if it is 0.
    float* sums_of(float* scratch, int thread) const;

    const WinogradLoops& loops_;
    WinogradShape shape_;
    WinogradMap from_, to_;
    int threads_;
    int tiles_;
    int piece_ = 1;  ///< tiles that go through the products together
    bool by_channels_ = false;
    std::size_t weights_ = 0, maps_ = 0, sums_ = 0;  ///< numbers of scratch: of all threads, of all threads, of each
};

}  // namespace roof::onednn
