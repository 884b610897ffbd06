// How the work on a convolution's weights' gradient is cut. It is a row of units: a region of the weights after the
// other, and within each a piece of the batch after the other. Each thread has a part of the row, as long as any
// other's.
#pragma once

#include "workloads/kernels/direct/weights_gradient_isa.hpp"

namespace roof::kernels {

/// Some blocks of outputs by some blocks of inputs, whose weights a part of an L2 holds.
struct GradientRegion {
    Range outputs, inputs;
};

class GradientPlan {
  public:
    GradientPlan(const WeightsGradientLoops& loops, const ConvolutionShape& shape, int threads);

    /// As the loops see it: the batch may be one of pairs, the rows of a map may be one row.
    const GradientShape& shape() const { return shape_; }
    Range units(int thread, int threads) const;
    /// Of each region.
    int pieces() const;
    GradientRegion region(int unit) const;
    GradientPiece piece(int unit) const;
    /// A unit's steps are its groups of blocks of outputs with each block of inputs.
    GradientStep first_step(int unit) const;
    int groups(const GradientRegion& region) const;
    Range group(const GradientRegion& region, int index) const;
    /// No other has more.
    GradientRegion largest_region() const { return {{0, region_outputs_}, {0, region_inputs_}}; }
    GradientPiece largest_piece() const { return {{0, piece_images_}, {0, piece_rows_}, {0, piece_columns_}}; }

  private:
    void choose_region(int most_cells, int least_units);
    int regions(int outputs, int inputs) const;

    GradientShape shape_;
    int group_;  ///< blocks of outputs, at most; likewise the others
    int region_outputs_ = 1, region_inputs_ = 1;
    int piece_images_, piece_rows_, piece_columns_;
};

}  // namespace roof::kernels
