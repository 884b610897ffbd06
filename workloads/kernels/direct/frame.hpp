// The source that the tiles read. Tiles can skip one column of padding on either side and use a stride of up to two;
// then they read the map itself. Otherwise they read a frame: a copy of some rows with zero columns on both sides, in
// which the columns of one tap are adjacent.
#pragma once

#include "workloads/kernels/direct/geometry.hpp"
#include "workloads/kernels/direct/isa.hpp"

#include <cstddef>

namespace roof::kernels {

/// Strides, in numbers.
struct DirectDistances {
    std::size_t row = 0, block = 0, image = 0;
};

class DirectFrame {
  public:
    DirectFrame(const DirectAxis& across, int source_rows, int lanes);

    bool is_needed() const { return is_needed_; }
    /// Strides of a map, or of a frame with `rows` rows and `blocks` channel blocks.
    DirectDistances in_map(int blocks) const;
    DirectDistances in_frame(int rows, int blocks) const;

    /// Offset, in numbers from the start of a row, of the source of this result column under a tap. Negative in left
    /// padding, which tiles never read.
    std::ptrdiff_t place(int result_column, int shift) const;
    /// Columns between the sources of two adjacent results.
    int step() const { return is_needed_ ? 1 : advance_; }

    void fill_row(const float* source, float* frame) const;

  private:
    std::size_t numbers(int columns) const { return static_cast<std::size_t>(columns) * lanes_; }

    std::size_t lanes_;
    int source_rows_, source_columns_;
    int advance_, low_;
    int phases_;   ///< groups of adjacent columns
    int columns_;  ///< columns per group
    bool is_needed_;
};

}  // namespace roof::kernels
