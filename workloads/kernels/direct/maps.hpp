// The forward and backward_data passes, shared among threads. Work is rows of results times groups of output channels;
// a group's weights fit the L2. Each thread takes a contiguous range and computes it group by group, in strips of rows
// whose source also fits the L2. The weights of a group are first transposed for the backward pass and paired for the
// dot product. While a strip is computed, the source of the next one is fetched.
//
// Tiles can skip one column of padding on either side and then read the map itself. With wider padding they read a
// frame: a copy of a strip's rows with columns of zeros on both sides. bf16 is widened in the frame; under a window of 1,
// where tiles share no source, tile by tile, so that it stays in the L1; or, if many groups read it, once for all of them.
#pragma once

#include "workloads/kernels/direct/loops.hpp"

#include <cstddef>
#include <vector>

namespace roof::kernels {

/// Result n of a class reads the source at n * advance + shift, if that is inside the map.
struct DirectAxisTap {
    int place = 0;  ///< index in the window
    int shift = 0;
};

/// The `count` results first, first + step, ...
struct DirectClass {
    int first = 0;
    int count = 0;
    std::vector<DirectAxisTap> taps{};
};

/// The products of a convolution along one axis, rows or columns, forward or backward to the source. Results with the
/// same taps form a class. Forward has one class. Backward with stride s has s, each with a part of the window. A result
/// that no window of the forward pass touched has no taps.
struct DirectAxis {
    /// `length`: of the convolution's source.
    DirectAxis(Pass pass, const ConvolutionShape& shape, int length);

    int most() const { return classes.front().count; }  ///< maximum number of results of a class
    /// Source numbers that `results` results of a class need.
    int span(int results) const { return (results - 1) * advance + high - low + 1; }

    int source;   ///< length of the source
    int result;   ///< likewise
    int step;     ///< distance between results of a class
    int advance;  ///< distance between their sources
    int low = 0;  ///< the smallest shift, at most 0
    int high = 0;
    std::vector<DirectClass> classes{};
};

class DirectMaps {
  public:
    DirectMaps(const DirectLoops& loops, Pass pass, const ConvolutionShape& shape, const ConvolutionOptions& options);

    std::size_t scratch() const;
    /// `weights`: in the layout of the forward pass. `bias`: [result channels] or null.
    void run(const Elements& source, const float* weights, const float* bias, const Elements& result,
             float* scratch) const;

  private:
    struct Job;
    struct Strip;
    struct Row;
    struct Distances {
        std::size_t row = 0, block = 0, image = 0;
    };

    int image_units() const { return (batch_ + images_ - 1) / images_; }
    int units_of_group() const { return image_units() * down_.most(); }
    std::size_t bytes_of_result() const;  ///< of a block of a pixel
    std::size_t weights_of_block() const;
    std::size_t widened() const;  ///< scratch words of all threads for the source, if it is widened first
    std::size_t turned() const;   ///< scratch words per thread for weights
    std::size_t frame() const;    ///< scratch words per thread for the source of a strip, or of a tile
    void choose_sizes();
    /// Distances in the source map, with pixels of this size.
    Distances in_map(std::size_t pixel) const;
    Distances in_frame(int rows) const;

    Strip strip_at(int unit, int end) const;
    int tiles_in(const Strip& strip) const;
    DirectAhead ahead_of(const Job& job, const Strip& strip, const Strip& next) const;
    void work_off(Job job, Range mine, float* scratch) const;
    void turn(const Job& job, const Strip& strip, float* turned) const;
    void fill(const Job& job, const Strip& strip, float* frame) const;
    void widen(const Elements& source, Range planes, float* to) const;
    /// Makes the tile read a widened copy of its source.
    void widen_tile(const Row& row, Range columns, DirectTap& tap, DirectTile& tile) const;
    void compute(const Job& job, const Strip& strip, const Strip& next, float* frame) const;
    void clear_row(const Job& job, const Strip& strip, int row) const;
    void compute(Row& row, const DirectClass& across) const;
    /// Writes the taps of these results and returns their number.
    int taps_of(const Row& row, const DirectClass& across, Range columns, DirectTap* taps) const;
    /// The fields that all pairs of outputs of these results share.
    DirectTile tile_of(const Row& row, const DirectClass& across, int column) const;

    const DirectLoops& loops_;
    Pass pass_;
    ConvolutionOptions options_;
    int batch_, window_;
    int from_, to_;                      ///< channel blocks
    std::size_t lanes_, depth_, bytes_;  ///< of a block of a pixel: numbers, words as loops read them, bytes in the map
    DirectAxis down_, across_;
    int left_, right_;  ///< columns of zeros in a frame
    bool is_widened_first_ = false;
    bool is_widened_by_tile_ = false;
    bool is_framed_ = false;
    int images_ = 1;  ///< images per tile
    int pairs_ = 1;   ///< pairs of output blocks per group
    int groups_ = 1;
    int rows_ = 1;  ///< rows of a class per strip
};

}  // namespace roof::kernels
