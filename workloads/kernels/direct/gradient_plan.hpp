// Divides the weights' gradient into units: for each region of the weights, the pieces of the batch in order. Each
// thread takes an equal part of the units.
#pragma once

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/refetch.hpp"

#include <algorithm>

namespace roof::kernels {

/// Output blocks by input blocks; their weights fit a part of the L2.
struct GradientRegion {
    Range outputs, inputs;
};

class GradientPlan {
  public:
    /// `is_packed`: the loops read packed maps.
    GradientPlan(const DirectLoops& loops, const model::Convolution& shape, bool is_packed, int threads)
        : shape_(seen_by(loops, shape), loops.lanes), group_(loops.outputs), lanes_(loops.lanes)
    {
        const int rows = shape_.rows, columns = shape_.columns;
        const int pixels = is_packed ? of_l1_packed : of_l1;
        piece_columns_ = std::min(columns, pixels);
        piece_rows_ = std::clamp(pixels / columns, 1, rows);
        piece_images_ = std::clamp(pixels / (rows * columns), 1, shape_.of.batch);
        choose_region(loops.lanes * of_l2_per_lane / shape_.cell, enough_units * threads);
    }

    /// The shape that the loops use: images may be pairs, and the rows of a map may be merged into one.
    const GradientShape& shape() const { return shape_; }
    Range units(int thread, int threads) const
    {
        return share_of(regions(region_outputs_, region_inputs_) * pieces(), thread, threads);
    }

    /// Pieces per region.
    int pieces() const
    {
        return pieces_of(shape_.of.batch, piece_images_) * pieces_of(shape_.rows, piece_rows_) *
               pieces_of(shape_.columns, piece_columns_);
    }

    GradientRegion region(int unit) const
    {
        const int index = unit / pieces(), across = pieces_of(shape_.input_blocks, region_inputs_);
        return {piece_of({0, shape_.output_blocks}, region_outputs_, index / across),
                piece_of({0, shape_.input_blocks}, region_inputs_, index % across)};
    }

    GradientPiece piece(int unit) const
    {
        const int across = pieces_of(shape_.columns, piece_columns_), down = pieces_of(shape_.rows, piece_rows_);
        const int index = unit % pieces();
        return {.images = piece_of({0, shape_.of.batch}, piece_images_, index / (across * down)),
                .rows = piece_of({0, shape_.rows}, piece_rows_, index / across % down),
                .columns = piece_of({0, shape_.columns}, piece_columns_, index % across)};
    }

    /// The steps of a unit are its groups of output blocks with each input block.
    GradientStep first_step(int unit) const
    {
        const GradientRegion of = region(unit);
        return {piece(unit), group(of, 0), of.inputs.begin};
    }

    int groups(const GradientRegion& region) const { return pieces_of(length(region.outputs), group_); }

    Range group(const GradientRegion& region, int index) const { return piece_of(region.outputs, group_, index); }

    /// A step reads a piece of an input block and of a group of output blocks, and its weights; regions come last.
    std::vector<Refetch> refetched(int threads) const
    {
        const auto words = [&](const model::Shape& map) { return 1.0 * shape_.of.batch * map.elements(); };
        const int groups = pieces_of(shape_.output_blocks, group_);
        const int down = pieces_of(shape_.output_blocks, region_outputs_);
        const int across = pieces_of(shape_.input_blocks, region_inputs_);
        const double x = words(shape_.of.source), dy = words(shape_.of.result), all = pieces();
        const double of_group = dy / all / groups, region = 1.0 * shape_.cell * region_outputs_ * region_inputs_;
        const double products = dy * static_cast<double>(shape_.of.source.channels) * shape_.of.window.taps();
        const double broadcasts = products / (group_ * 1.0 * lanes_), vectors = products / inputs_of_tile;
        return refetches(
            {{threads * (of_group + x / all / shape_.input_blocks),
              std::max(0.0, broadcasts - x * groups) + std::max(0.0, vectors - dy * across)},
             {threads * (of_group + x / all / across), x * (groups - down)},
             {threads * region, 2.0 * shape_.cell * shape_.input_blocks * shape_.output_blocks * (all - 1)},
             {x, x * (down - 1)},
             {dy, dy * (across - 1)}});
    }

    /// Upper bounds for all regions and pieces.
    GradientRegion largest_region() const { return {{0, region_outputs_}, {0, region_inputs_}}; }
    GradientPiece largest_piece() const { return {{0, piece_images_}, {0, piece_rows_}, {0, piece_columns_}}; }

  private:
    static constexpr int of_l1 = 84;          ///< pixels of a few channel blocks, half of the L1 for the next ones
    static constexpr int of_l1_packed = 112;  ///< packed data is already in the L2
    /// Weights per lane; the rest of the L2 is for the maps, and L2 sizes grew with the vectors.
    static constexpr int of_l2_per_lane = 4096;
    static constexpr int inputs_of_tile = 4;  ///< gradient_loops.hpp
    static constexpr int enough_units = 8;    ///< per thread

    static constexpr int pieces_of(int count, int most) { return (count + most - 1) / most; }

    static constexpr Range piece_of(const Range& whole, int most, int index)
    {
        const Range piece = share_of(length(whole), index, pieces_of(length(whole), most));
        return {whole.begin + piece.begin, whole.begin + piece.end};
    }

    /// The shape that the loops use: pairs count as images, and rows that no window joins are merged into one.
    static model::Convolution seen_by(const DirectLoops& loops, model::Convolution shape)
    {
        shape.batch = pieces_of(shape.batch, loops.numbers);
        if (shape.window.size != 1 || shape.window.stride != 1 || shape.window.padding != 0) return shape;
        for (model::Shape* const map : {&shape.source, &shape.result})
            *map = {map->channels, 1, map->height * map->width};
        return shape;
    }

    /// Large and nearly square regions read the maps the fewest times.
    void choose_region(int most_cells, int least_units)
    {
        int outputs = std::min(group_, shape_.output_blocks), inputs = 1;
        do {
            region_outputs_ = outputs;
            region_inputs_ = inputs;
            const bool is_wide = outputs >= inputs || outputs == shape_.output_blocks;
            if (is_wide && inputs < shape_.input_blocks)
                inputs = std::min(2 * inputs, shape_.input_blocks);
            else
                outputs = std::min(2 * outputs, shape_.output_blocks);
        } while ((outputs > region_outputs_ || inputs > region_inputs_) && outputs * inputs <= most_cells &&
                 regions(outputs, inputs) * pieces() >= least_units);
    }

    int regions(int outputs, int inputs) const
    {
        return pieces_of(shape_.output_blocks, outputs) * pieces_of(shape_.input_blocks, inputs);
    }

    GradientShape shape_;
    int group_, lanes_;  ///< maximum number of output blocks; the others likewise
    int region_outputs_ = 1, region_inputs_ = 1;
    int piece_images_, piece_rows_, piece_columns_;
};

}  // namespace roof::kernels
