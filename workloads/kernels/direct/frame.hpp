// Where tiles read a convolution's source. They can leave out one column of padding on either side and step over one
// column: then they read the map itself. For wider paddings and strides they read a frame, a copy of some rows with
// columns of zeros left and right of it, in which the columns that one tap takes stand side by side.
#pragma once

#include "workloads/kernels/direct/geometry.hpp"
#include "workloads/kernels/direct/isa.hpp"

#include <cstddef>

namespace roof::kernels {

/// Numbers from one to the next.
struct DirectDistances {
    std::size_t row = 0, block = 0, image = 0;
};

class DirectFrame {
  public:
    DirectFrame(const DirectAxis& across, int source_rows, int lanes);

    bool is_needed() const { return is_needed_; }
    /// In a map, or in a frame, of so many rows and blocks of channels.
    DirectDistances in_map(int blocks) const;
    DirectDistances in_frame(int rows, int blocks) const;

    /// Numbers from where a row begins to what the result in this column takes by a tap: in what tiles read. Less
    /// than 0 if that is padding, of which no tile reads more.
    std::ptrdiff_t place(int result_column, int shift) const;
    /// Columns from what one result takes to what the next takes: in what tiles read.
    int step() const { return is_needed_ ? 1 : advance_; }

    void fill_row(const float* source, float* frame) const;

  private:
    std::size_t numbers(int columns) const { return static_cast<std::size_t>(columns) * lanes_; }

    std::size_t lanes_;
    int source_rows_, source_columns_;
    int advance_, low_;
    int phases_;   ///< sets of columns that stand side by side
    int columns_;  ///< in each
    bool is_needed_;
};

}  // namespace roof::kernels
