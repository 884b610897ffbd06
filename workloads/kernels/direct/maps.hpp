// The forward and backward_data passes, shared among threads. Work is rows of results times groups of output channels;
// a group's weights fit the L2. Each thread takes a contiguous range and computes it group by group, in strips of rows
// whose source also fits the L2. The backward pass first transposes the group's weights. While a strip is computed, the
// source of the next one is fetched.
#pragma once

#include "workloads/kernels/direct/frame.hpp"
#include "workloads/kernels/direct/geometry.hpp"
#include "workloads/kernels/direct/isa.hpp"

namespace roof::kernels {

class DirectMaps {
  public:
    DirectMaps(const DirectLoops& loops, Pass pass, const ConvolutionShape& shape, int threads);

    std::size_t scratch() const;
    /// `weights`: in the layout of the forward pass. `bias`: [result channels] or null.
    void run(const float* source, const float* weights, const float* bias, bool relu, float* result,
             float* scratch) const;

  private:
    struct Job;
    struct Strip;
    struct Row;

    int image_units() const { return (batch_ + images_ - 1) / images_; }
    int units_of_group() const { return image_units() * down_.most(); }
    std::size_t weights_of_block() const;
    std::size_t turned() const;  ///< scratch numbers per thread for weights
    std::size_t frame() const;   ///< scratch numbers per thread for the source
    void choose_sizes();

    Strip strip_at(int unit, int end, int block) const;
    /// Moves `strip` to the thread's next strip; returns false at the end.
    bool advance(Range mine, Strip& strip) const;
    int tiles_in(const Strip& strip) const;
    const float* source_of(const float* source, const Strip& strip) const;
    DirectAhead ahead_of(const Job& job, const Strip& strip, const Strip& next) const;
    void work_off(Job job, Range mine, float* scratch) const;
    void fill(const Job& job, const Strip& strip, float* frame) const;
    void compute(const Job& job, const Strip& strip, const Strip& next, float* frame) const;
    void clear_row(const Job& job, const Strip& strip, int row) const;
    void compute(Row& row, const DirectClass& across) const;
    /// Writes the taps of these results and returns their number.
    int taps_of(const Row& row, const DirectClass& across, Range columns, DirectTap* taps) const;
    /// The fields that all pairs of outputs of these results share.
    DirectTile tile_of(const Row& row, const DirectClass& across, int column) const;

    const DirectLoops& loops_;
    Pass pass_;
    int batch_, window_, threads_;
    int from_, to_;  ///< channel blocks
    DirectAxis down_, across_;
    DirectFrame frame_;
    int images_ = 1;  ///< images per tile
    int pairs_ = 1;   ///< pairs of output blocks per group
    int groups_ = 1;
    int chunk_ = 1;  ///< input blocks summed at a time
    int rows_ = 1;   ///< rows of a class per strip
};

}  // namespace roof::kernels
