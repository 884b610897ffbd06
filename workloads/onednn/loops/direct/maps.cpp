#include "workloads/onednn/loops/direct/maps.hpp"

#include "workloads/onednn/loops/parallel.hpp"
#include "workloads/onednn/loops/winograd_isa.hpp"

#include <array>
#include <cstring>

namespace roof::onednn {
namespace {

constexpr std::size_t weights_of_l2 = 160 * 1024;  ///< numbers
constexpr std::size_t frame_of_l2 = 64 * 1024;

using Taps = std::array<DirectTap, direct_largest_window * direct_largest_window>;

}  // namespace

struct DirectMaps::Job {
    const float* source;
    const float* weights;  ///< [outputs / lanes][inputs / lanes][window][window][lanes][lanes] of this pass
    const float* bias;
    bool relu;
    float* result;
};

/// Rows of results of one image or two, a group of outputs, a chunk of inputs.
struct DirectMaps::Strip {
    Range pairs, blocks, rows;
    int image, images;
    const float* source = nullptr;  ///< what the tiles read, from row `first_row` of the map
    int first_row = 0;
    Distances apart{};
};

DirectMaps::DirectMaps(const DirectLoops& loops, DirectPass pass, const DirectShape& shape, int threads)
    : loops_(loops), pass_(pass), batch_(shape.batch), window_(shape.window), threads_(threads)
{
    const auto axis = pass == DirectPass::forward ? direct_forward_axis : direct_backward_axis;
    down_ = axis(shape, shape.height);
    across_ = axis(shape, shape.width);
    const auto [from, to] = pass == DirectPass::forward ? std::pair{shape.inputs, shape.outputs}
                                                        : std::pair{shape.outputs, shape.inputs};
    from_ = from / loops.lanes;
    to_ = to / loops.lanes;
    choose_sizes(to_ / 2);
}

/// Of weights that exceed what is meant for them by little, no chunks are made.
void DirectMaps::choose_sizes(int pairs)
{
    const std::size_t of_block = 2 * square() * static_cast<std::size_t>(window_ * window_);
    chunk_ = even_piece(from_, static_cast<int>(std::max<std::size_t>(1, weights_of_l2 / of_block)));
    const std::size_t of_pair = of_block * static_cast<std::size_t>(chunk_);
    pairs_ = even_piece(pairs, static_cast<int>(std::max<std::size_t>(1, weights_of_l2 / of_pair)));
    groups_ = (pairs + pairs_ - 1) / pairs_;
    images_ = batch_ > 1 && 2 * across_.most() <= loops_.pixels ? 2 : 1;
    rows_ = down_.most();
    if (!is_framed()) return;
    while (rows_ > 1 && framed(rows_).image * static_cast<std::size_t>(images_) > frame_of_l2) --rows_;
    rows_ = even_piece(down_.most(), rows_);
}

std::size_t DirectMaps::all_weights() const
{
    return square() * static_cast<std::size_t>(window_ * window_ * from_ * to_);
}

DirectMaps::Distances DirectMaps::framed(int rows) const
{
    const int columns = across_.most() + (across_.reach() - 1) / across_.advance;
    const int phases = std::min(across_.advance, across_.reach());
    Distances apart;
    apart.phase = static_cast<std::size_t>(columns * loops_.lanes);
    apart.row = apart.phase * static_cast<std::size_t>(phases);
    apart.block = winograd_apart(apart.row * static_cast<std::size_t>(frame_rows(rows)));
    apart.image = apart.block * static_cast<std::size_t>(chunk_);
    return apart;
}

DirectMaps::Distances DirectMaps::unframed() const
{
    Distances apart;
    apart.row = static_cast<std::size_t>(across_.source * loops_.lanes);
    apart.block = apart.row * static_cast<std::size_t>(down_.source);
    apart.image = apart.block * static_cast<std::size_t>(from_);
    return apart;
}

std::size_t DirectMaps::scratch() const
{
    const std::size_t frame = is_framed() ? framed(rows_).image * static_cast<std::size_t>(images_) : 0;
    const std::size_t turned = pass_ == DirectPass::forward ? 0 : all_weights();
    return turned + winograd_apart(frame) * static_cast<std::size_t>(threads_);
}

void DirectMaps::run(const float* source, const float* weights, const float* bias, bool relu, float* result,
                     float* scratch) const
{
    const bool turned = pass_ == DirectPass::backward_data;
    const Job job{source, turned ? scratch : weights, bias, relu, result};
    float* frames = scratch + (turned ? all_weights() : 0);
    const std::size_t frame = (this->scratch() - (turned ? all_weights() : 0)) / static_cast<std::size_t>(threads_);
    const int of_group = units() / groups_;
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        if (turned) {
            loops_.turn(weights, from_, to_, window_ * window_, share_of(from_ * to_, thread, threads), scratch);
#pragma omp barrier
        }
        const Range mine = share_of(units(), thread, threads);
        for (int begin = mine.begin, end = 0; begin < mine.end; begin = end) {
            end = std::min(mine.end, (begin / of_group + 1) * of_group);
            group_of(job, {begin, end}, frames + frame * static_cast<std::size_t>(thread));
        }
    }
}

void DirectMaps::group_of(const Job& job, Range units, float* frame) const
{
    const int rows = down_.most(), group = units.begin / (image_units() * rows);
    const Range pairs{group * pairs_, std::min(to_ / 2, (group + 1) * pairs_)};
    for (int block = 0; block < from_; block += chunk_) {
        for (int begin = units.begin, end = 0; begin < units.end; begin = end) {
            const int row = begin % rows, image = begin / rows % image_units() * images_;
            end = std::min({units.end, begin - row + rows, begin + rows_});
            strip_of(job,
                     {.pairs = pairs,
                      .blocks = {block, std::min(from_, block + chunk_)},
                      .rows = {row, row + end - begin},
                      .image = image,
                      .images = std::min(images_, batch_ - image)},
                     frame);
        }
    }
}

void DirectMaps::strip_of(const Job& job, Strip strip, float* frame) const
{
    strip.apart = is_framed() ? framed(rows_) : unframed();
    if (is_framed()) {
        strip.source = frame;
        strip.first_row = strip.rows.begin * down_.advance + down_.low();
        fill(job, strip, frame);
    } else {
        strip.source = job.source + strip.apart.image * static_cast<std::size_t>(strip.image) +
                       strip.apart.block * static_cast<std::size_t>(strip.blocks.begin);
    }
    for (int row = strip.rows.begin; row < strip.rows.end; ++row) {
        for (const DirectClass& down : down_.classes) {
            if (row < down.count) tiles(job, strip, down, row);
        }
    }
}

void DirectMaps::fill(const Job& job, const Strip& strip, float* frame) const
{
    const Distances source = unframed();
    const int last = std::min(strip.first_row + frame_rows(strip.rows.end - strip.rows.begin), down_.source);
    for (int image = 0; image < strip.images; ++image) {
        for (int block = strip.blocks.begin; block < strip.blocks.end; ++block) {
            const float* from = job.source + source.image * static_cast<std::size_t>(strip.image + image) +
                                source.block * static_cast<std::size_t>(block);
            float* to = frame + strip.apart.image * static_cast<std::size_t>(image) +
                        strip.apart.block * static_cast<std::size_t>(block - strip.blocks.begin);
            for (int row = std::max(0, strip.first_row); row < last; ++row) {
                if ((row - strip.first_row) % down_.advance >= down_.reach()) continue;  // between two windows
                fill_row(from + source.row * static_cast<std::size_t>(row),
                         to + strip.apart.row * static_cast<std::size_t>(row - strip.first_row));
            }
        }
    }
}

void DirectMaps::fill_row(const float* source, float* frame) const
{
    const auto lanes = static_cast<std::size_t>(loops_.lanes);
    const auto numbers = [&](int columns) { return static_cast<std::size_t>(columns) * lanes; };
    const int advance = across_.advance, columns = across_.most() + (across_.reach() - 1) / advance;
    for (int phase = 0; phase < std::min(advance, across_.reach()); ++phase) {
        const int low = across_.low() + phase;  // of the first column
        const int before = std::min(columns, low < 0 ? (-low + advance - 1) / advance : 0);
        const int end = std::clamp((across_.source - low + advance - 1) / advance, before, columns);
        std::fill_n(frame, numbers(before), 0.0F);
        const float* from = source + static_cast<std::ptrdiff_t>(low + before * advance) * loops_.lanes;
        if (advance == 1) {
            std::memcpy(frame + numbers(before), from, numbers(end - before) * sizeof(float));
        } else {
            for (int column = before; column < end; ++column, from += numbers(advance))
                std::memcpy(frame + numbers(column), from, lanes * sizeof(float));
        }
        std::fill_n(frame + numbers(end), numbers(columns - end), 0.0F);
        frame += numbers(columns);
    }
}

int DirectMaps::taps_of(const Strip& strip, const DirectClass& down, int row, const DirectClass& across, Range columns,
                        DirectTap* taps) const
{
    const auto lanes = static_cast<std::size_t>(loops_.lanes);
    int count = 0;
    for (const DirectAxisTap& high : down.taps) {
        const int source_row = row * down_.advance + high.shift;
        if (source_row < 0 || source_row >= down_.source) continue;
        const std::size_t at = static_cast<std::size_t>(source_row - strip.first_row) * strip.apart.row;
        for (const DirectAxisTap& wide : across.taps) {
            const int first = columns.begin * across_.advance + wide.shift;
            const int last = (columns.end - 1) * across_.advance + wide.shift;
            if (last < 0 || first >= across_.source) continue;
            const bool before = first < 0, beyond = last >= across_.source;
            const int shift = wide.shift - across_.low();
            const auto phase = static_cast<std::size_t>(shift % across_.advance);
            const auto column = static_cast<std::size_t>(columns.begin + shift / across_.advance);
            taps[count++] = {at + phase * strip.apart.phase + column * lanes,
                             square() * static_cast<std::size_t>(high.place * window_ + wide.place),
                             before == beyond ? DirectEdge::none : (before ? DirectEdge::first : DirectEdge::last)};
        }
    }
    return count;
}

void DirectMaps::tiles(const Job& job, const Strip& strip, const DirectClass& down, int row) const
{
    const auto size = [](int count) { return static_cast<std::size_t>(count); };
    const std::size_t lanes = size(loops_.lanes), result_row = size(across_.result) * lanes;
    const std::size_t result_block = result_row * size(down_.result), weights_block = square() * size(window_ * window_);
    const bool is_last = strip.blocks.end == from_;
    Taps taps;
    for (const DirectClass& across : across_.classes) {
        for (int column = 0, next = 0; column < across.count; column += next) {
            next = even_piece(across.count - column, loops_.pixels / strip.images);
            const int count = taps_of(strip, down, row, across, {column, column + next}, taps.data());
            if (count == 0 && strip.blocks.begin > 0) continue;
            float* result = job.result + size(strip.image * to_) * result_block +
                            size(down.first + row * down_.step) * result_row +
                            size(across.first + column * across_.step) * lanes;
            for (int pair = strip.pairs.begin; pair < strip.pairs.end; ++pair) {
                loops_.tile({.source = strip.source,
                             .source_block = strip.apart.block,
                             .source_image = strip.apart.image,
                             .weights = job.weights + size(2 * pair * from_ + strip.blocks.begin) * weights_block,
                             .weights_block = weights_block,
                             .weights_result = size(from_) * weights_block,
                             .taps = taps.data(),
                             .tap_count = count,
                             .blocks = strip.blocks.end - strip.blocks.begin,
                             .result = result + size(2 * pair) * result_block,
                             .result_column = size(across_.step) * lanes,
                             .result_block = result_block,
                             .result_image = size(to_) * result_block,
                             .bias = job.bias == nullptr ? nullptr : job.bias + size(2 * pair) * lanes,
                             .add = strip.blocks.begin > 0,
                             .relu = job.relu && is_last},
                            strip.images, next);
            }
        }
    }
}

}  // namespace roof::onednn
