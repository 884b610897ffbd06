// The passes from one map to another, forward and backward to the source, as shared among threads. The work is rows
// of results, times groups of output channels whose weights a core's L2 holds: a thread takes a stretch of it, group
// after group, and within a group strips of rows whose source the L2 holds too. Backward, it turns a group's weights
// first. While it computes one strip, the source of the next is fetched.
#pragma once

#include "workloads/kernels/direct/frame.hpp"
#include "workloads/kernels/direct/geometry.hpp"
#include "workloads/kernels/direct/isa.hpp"

namespace roof::kernels {

class DirectMaps {
  public:
    DirectMaps(const DirectLoops& loops, Pass pass, const ConvolutionShape& shape, int threads);

    std::size_t scratch() const;
    /// `weights`: as the forward pass has them. `bias`: of the results' channels, or null.
    void run(const float* source, const float* weights, const float* bias, bool relu, float* result,
             float* scratch) const;

  private:
    struct Job;
    struct Strip;
    struct Row;

    int image_units() const { return (batch_ + images_ - 1) / images_; }
    int units_of_group() const { return image_units() * down_.most(); }
    std::size_t weights_of_block() const;
    std::size_t turned() const;  ///< numbers of scratch of each thread: for weights
    std::size_t frame() const;   ///< and for the source
    void choose_sizes();

    Strip strip_at(int unit, int end, int block) const;
    /// To what a thread with these units does next; false if that was all.
    bool advance(Range mine, Strip& strip) const;
    int tiles_in(const Strip& strip) const;
    const float* source_of(const float* source, const Strip& strip) const;
    DirectAhead ahead_of(const Job& job, const Strip& strip, const Strip& next) const;
    void work_off(Job job, Range mine, float* scratch) const;
    void fill(const Job& job, const Strip& strip, float* frame) const;
    void compute(const Job& job, const Strip& strip, const Strip& next, float* frame) const;
    void clear_row(const Job& job, const Strip& strip, int row) const;
    void compute(Row& row, const DirectClass& across) const;
    /// The taps that these results meet; how many.
    int taps_of(const Row& row, const DirectClass& across, Range columns, DirectTap* taps) const;
    /// What all pairs of outputs of these results have in common.
    DirectTile tile_of(const Row& row, const DirectClass& across, int column) const;

    const DirectLoops& loops_;
    Pass pass_;
    int batch_, window_, threads_;
    int from_, to_;  ///< blocks of channels
    DirectAxis down_, across_;
    DirectFrame frame_;
    int images_ = 1;  ///< whose rows make one tile
    int pairs_ = 1;   ///< pairs of output blocks in a group
    int groups_ = 1;
    int chunk_ = 1;  ///< input blocks that are summed at a time
    int rows_ = 1;   ///< of a class, in a strip
};

}  // namespace roof::kernels
