// The passes from one map to another, forward and backward to the source, as shared among threads. The work is rows of results,
// times groups of output channels whose weights a core's L2 holds: a thread takes a stretch of it, group after group, and within
// a group as many rows at a time as keep their source in the L2 too. It copies that source once: columns of zeros stand left and
// right of it, and with a stride the columns that one tap takes stand side by side.
#pragma once

#include "workloads/onednn/loops/direct/geometry.hpp"
#include "workloads/onednn/loops/direct/isa.hpp"

namespace roof::onednn {

inline constexpr int direct_largest_window = 16;

class DirectMaps {
  public:
    DirectMaps(const DirectLoops& loops, DirectPass pass, const DirectShape& shape, int threads);

    std::size_t scratch() const;
    /// `weights`: as the forward pass has them. `bias`: of the results' channels, or null.
    void run(const float* source, const float* weights, const float* bias, bool relu, float* result,
             float* scratch) const;

  private:
    struct Job;
    struct Strip;

    /// How far apart things lie in what tiles read: in a frame, or in the source itself.
    struct Distances {
        std::size_t phase = 0, row = 0, block = 0, image = 0;
    };

    bool is_framed() const { return across_.reach() > 1 || down_.advance > 1; }
    int image_units() const { return (batch_ + images_ - 1) / images_; }
    int units() const { return groups_ * image_units() * down_.most(); }
    std::size_t square() const { return static_cast<std::size_t>(loops_.lanes * loops_.lanes); }
    std::size_t all_weights() const;
    int frame_rows(int rows) const { return (rows - 1) * down_.advance + down_.reach(); }
    Distances framed(int rows) const;
    Distances unframed() const;
    void choose_sizes(int outputs);

    void group_of(const Job& job, Range units, float* frame) const;
    void strip_of(const Job& job, Strip strip, float* frame) const;
    void fill(const Job& job, const Strip& strip, float* frame) const;
    void fill_row(const float* source, float* frame) const;
    void tiles(const Job& job, const Strip& strip, const DirectClass& down, int row) const;
    /// The taps that these results meet; how many.
    int taps_of(const Strip& strip, const DirectClass& down, int row, const DirectClass& across, Range columns,
                DirectTap* taps) const;

    const DirectLoops& loops_;
    DirectPass pass_;
    int batch_, window_, threads_;
    int from_, to_;  ///< blocks of channels
    DirectAxis down_, across_;
    int images_ = 1;             ///< whose rows make one tile
    int pairs_ = 1, groups_ = 1;  ///< pairs of output blocks in a group
    int chunk_ = 1;              ///< input blocks that are summed at a time
    int rows_ = 1;               ///< of a class, in a strip
};

}  // namespace roof::onednn
