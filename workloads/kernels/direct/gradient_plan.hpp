// Divides the weights' gradient into units: for each region of the weights, the pieces of the batch in order. Each
// thread takes an equal part of the units.
#pragma once

#include "workloads/kernels/direct/loops.hpp"

namespace roof::kernels {

/// Output blocks by input blocks; their weights fit a part of the L2.
struct GradientRegion {
    Range outputs, inputs;
};

class GradientPlan {
  public:
    /// `is_packed`: the loops read packed maps.
    GradientPlan(const DirectLoops& loops, const ConvolutionShape& shape, bool is_packed, int threads);

    /// The shape that the loops use: images may be pairs, and the rows of a map may be merged into one.
    const GradientShape& shape() const { return shape_; }
    Range units(int thread, int threads) const;
    /// Pieces per region.
    int pieces() const;
    GradientRegion region(int unit) const;
    GradientPiece piece(int unit) const;
    /// The steps of a unit are its groups of output blocks with each input block.
    GradientStep first_step(int unit) const;
    int groups(const GradientRegion& region) const;
    Range group(const GradientRegion& region, int index) const;
    /// Upper bounds for all regions and pieces.
    GradientRegion largest_region() const { return {{0, region_outputs_}, {0, region_inputs_}}; }
    GradientPiece largest_piece() const { return {{0, piece_images_}, {0, piece_rows_}, {0, piece_columns_}}; }

  private:
    void choose_region(int most_cells, int least_units);
    int regions(int outputs, int inputs) const;

    GradientShape shape_;
    int group_;  ///< maximum number of output blocks; the others likewise
    int region_outputs_ = 1, region_inputs_ = 1;
    int piece_images_, piece_rows_, piece_columns_;
};

}  // namespace roof::kernels
