// How the passes of maps.cpp are divided: their axes, and the sizes of groups, strips, frames and scratch.
#pragma once

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/refetch.hpp"

#include <algorithm>
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
/// same taps form a class. Forward has one class. Backward with stride s has s, each with a part of the window. A
/// result that no window of the forward pass touched has no taps.
struct DirectAxis {
    /// `length`: of the convolution's source.
    DirectAxis(const model::ConvolutionPass& shape, int length)
    {
        const int results = shape.window.results(length);
        const bool is_forward = shape.pass == model::Pass::forward;
        source = is_forward ? length : results;
        result = is_forward ? results : length;
        step = is_forward ? 1 : shape.window.stride;
        advance = is_forward ? shape.window.stride : 1;
        for (int first = 0; first < std::min(step, result); ++first) {
            DirectClass one{.first = first, .count = (result - first + step - 1) / step};
            for (int place = 0; place < shape.window.size; ++place) {
                const int distance = is_forward ? place - shape.window.padding : first + shape.window.padding - place;
                if (distance % step != 0) continue;
                one.taps.push_back({place, distance / step});
                low = std::min(low, distance / step);
                high = std::max(high, distance / step);
            }
            classes.push_back(one);
        }
    }

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

/// The sizes of one pass, and of what its threads need.
class DirectMapsPlan {
  public:
    DirectMapsPlan(const DirectLoops& loops, const model::ConvolutionPass& shape, int threads)
        : loops_(loops),
          shape_(shape),
          threads_(threads),
          is_forward_(shape.pass == model::Pass::forward),
          batch_(shape.batch),
          window_(shape.window.size),
          from_((is_forward_ ? shape.source : shape.result).channels / loops.lanes),
          to_((is_forward_ ? shape.result : shape.source).channels / loops.lanes),
          lanes_(size(loops.lanes)),
          depth_(size(loops.lanes / loops.numbers)),
          bytes_(bytes_of_result()),
          down_(shape, shape.source.height),
          across_(shape, shape.source.width),
          left_(-across_.low),
          right_(std::max(0, across_.low + across_.span(across_.most()) - across_.source))
    {
        choose_sizes();
    }

    /// Scratch size in words.
    std::size_t scratch() const { return widened() + (turned() + frame()) * size(threads_); }

    /// A tile reads the weights of each pair of outputs of its group, and for each its own source. Tiles follow along a
    /// row, rows within a strip, groups of outputs last.
    std::vector<Refetch> refetched() const
    {
        const int most = loops_.pixels / images_, pairs = to_ / 2;
        double tiles = 0;
        for (const DirectClass& down : down_.classes)
            for (const DirectClass& across : across_.classes)
                tiles += down.taps.empty() ? 0 : 1.0 * down.count * ((across.count + most - 1) / most);
        tiles *= image_units();
        const double threads = threads_, block = 1.0 * static_cast<double>(depth_) * images_ * down_.span(1);
        const double tile = block * from_ * across_.span(std::min(most, across_.most()));
        const double row = block * from_ * across_.source;
        const double source = static_cast<double>(in_map(depth_).image) * batch_;
        const double of_pair = 2.0 * static_cast<double>(weights_of_block()) * from_, of_group = of_pair * pairs_;
        const double results = 1.0 * batch_ * down_.result * across_.result;
        const double broadcasts =
            results * window_ * window_ / (across_.step * across_.step) * static_cast<double>(depth_) * from_ * pairs;
        return refetches({{threads * tile / from_, broadcasts - tiles * pairs * tile},
                          {threads * (tile + of_pair), tiles * (pairs - groups_) * tile},
                          {threads * (tile + of_group), of_pair * pairs * (tiles - 1)},
                          {threads * (row + of_group), groups_ * (tiles * tile - source)},
                          {source + of_group, (groups_ - 1) * source}});
    }

  protected:
    struct Distances {
        std::size_t row = 0, block = 0, image = 0;
    };

    static std::size_t size(int count) { return static_cast<std::size_t>(count); }
    int image_units() const { return (batch_ + images_ - 1) / images_; }
    int units_of_group() const { return image_units() * down_.most(); }
    /// Bytes of a block of a pixel.
    std::size_t bytes_of_result() const { return lanes_ * size(traits(shape_.precision).storage_bytes); }

    std::size_t weights_of_block() const { return lanes_ * depth_ * size(window_ * window_); }

    /// Scratch words of all threads for the source, if it is widened first.
    std::size_t widened() const { return is_widened_first_ ? odd_lines(in_map(depth_).image * size(batch_)) : 0; }

    /// Scratch words per thread for weights.
    std::size_t turned() const
    {
        const bool is_needed = !is_forward_ || loops_.numbers > 1;
        return is_needed ? weights_of_block() * size(2 * pairs_ * from_) : 0;
    }

    /// Scratch words per thread for the source of a strip, or of a tile.
    std::size_t frame() const
    {
        if (is_widened_by_tile_) return depth_ * size(loops_.pixels * from_);
        return is_framed_ ? in_frame(down_.span(rows_)).image * size(images_) : 0;
    }

    /// Distances in the source map, with pixels of this size.
    Distances in_map(std::size_t pixel) const
    {
        const std::size_t row = pixel * size(across_.source), block = row * size(down_.source);
        return {row, block, block * size(from_)};
    }

    Distances in_frame(int rows) const
    {
        const std::size_t row = depth_ * size(left_ + across_.source + right_), block = odd_lines(row * size(rows));
        return {row, block, block * size(from_)};
    }

    const DirectLoops& loops_;
    model::ConvolutionPass shape_;
    int threads_;
    bool is_forward_;
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

  private:
    static constexpr std::size_t weights_of_l2 = 96 * 1024;  ///< words
    static constexpr std::size_t source_of_l2 = 32 * 1024;
    static constexpr int few_groups = 4;  ///< widening the source for each costs little

    void choose_sizes()
    {
        const int pairs = to_ / 2;
        const std::size_t of_pair = 2 * weights_of_block() * size(from_);
        pairs_ = even_piece(pairs, static_cast<int>(std::max<std::size_t>(1, weights_of_l2 / of_pair)));
        groups_ = (pairs + pairs_ - 1) / pairs_;
        const bool is_widened = bytes_ < depth_ * sizeof(float);
        const bool has_one_tap = window_ == 1 && across_.low == 0 && across_.high == 0 && right_ == 0;
        is_widened_first_ = is_widened && groups_ > few_groups;
        is_widened_by_tile_ = is_widened && !is_widened_first_ && has_one_tap;
        is_framed_ = left_ > 1 || right_ > 1 || (is_widened && !is_widened_first_ && !is_widened_by_tile_);
        if (is_widened_first_) bytes_ = depth_ * sizeof(float);
        images_ = batch_ > 1 && 2 * across_.most() <= loops_.pixels ? 2 : 1;
        const auto needed = [&](int rows) { return in_frame(down_.span(rows)).image * size(images_); };
        rows_ = down_.most();
        while (rows_ > 1 && needed(rows_) > source_of_l2) --rows_;
        rows_ = even_piece(down_.most(), rows_);
    }
};

}  // namespace roof::kernels
