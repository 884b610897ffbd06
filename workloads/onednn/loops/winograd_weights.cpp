#include "workloads/onednn/loops/winograd_weights.hpp"

#include "workloads/onednn/loops/parallel.hpp"

namespace roof::onednn {
namespace {

constexpr int points = winograd_points;
constexpr std::size_t of_l3 = 1U << 20U;       ///< numbers
constexpr std::size_t small_sums = 1U << 22U;  ///< numbers that an L3 holds

}  // namespace

WinogradWeights::WinogradWeights(const WinogradLoops& loops, const WinogradShape& shape, int threads)
    : loops_(loops),
      shape_(shape),
      lanes_(loops.lanes),
      threads_(threads),
      tiles_(shape.batch, shape.height, shape.width)
{
    const auto all_sums = static_cast<std::size_t>(points) * static_cast<std::size_t>(shape.inputs) *
                          static_cast<std::size_t>(shape.outputs);
    const int least = all_sums > small_sums ? 256 : 64;  // tiles, for sums to be worth loading and storing
    const auto per_tile = static_cast<std::size_t>(points * (shape.inputs + shape.outputs));
    piece_ = even_piece(tiles_.count(), std::max(least, static_cast<int>(of_l3 / per_tile)));
    const auto blocks = static_cast<std::size_t>(input_blocks()) * static_cast<std::size_t>(wide_blocks());
    apart_ = winograd_apart(at_once() ? cell() : cell() * blocks);

    const auto team = static_cast<std::size_t>(threads);
    maps_ = points * spread(piece_, shape.inputs, lanes_).point;
    gradients_ = points * spread(piece_, shape.outputs, 2 * lanes_).point;
    sums_ = points * apart_ * (at_once() ? team : 1);
    bias_sums_ = winograd_apart(static_cast<std::size_t>(shape.outputs)) * team;
}

std::size_t WinogradWeights::scratch() const
{
    return maps_ + gradients_ + sums_ + bias_sums_;
}

std::size_t WinogradWeights::cell_at(int input_block, int wide_block) const
{
    return cell() * static_cast<std::size_t>(input_block * wide_blocks() + wide_block);
}

WinogradSpread WinogradWeights::spread(int tiles, int channels, int wide) const
{
    const auto count = static_cast<std::size_t>(tiles);
    const auto tile = static_cast<std::size_t>(wide);
    return {.point = winograd_apart(count * static_cast<std::size_t>(channels)),
            .block = count * tile,
            .tile = tile,
            .paired = wide > lanes_};
}

WinogradWeights::Piece WinogradWeights::piece(int first, float* scratch) const
{
    const int count = std::min(piece_, tiles_.count() - first);
    return {.v = scratch,
            .z = scratch + maps_,
            .of_source = spread(count, shape_.inputs, lanes_),
            .of_gradient = spread(count, shape_.outputs, 2 * lanes_),
            .tiles = {first, first + count},
            .is_first = first == 0};
}

void WinogradWeights::correlate(const Piece& piece, int point, int input_block, int wide_block, float* m) const
{
    const auto at = static_cast<std::size_t>(point);
    const Range needing = common(tiles_.needing(point), piece.tiles);
    const int skipped = needing.begin - piece.tiles.begin;
    loops_.correlate(piece.v + at * piece.of_source.point + piece.of_source.at(input_block, skipped),
                     piece.z + at * piece.of_gradient.point + piece.of_gradient.at(2 * wide_block, skipped),
                     needing.end - needing.begin, m, !piece.is_first);
}

void WinogradWeights::finish_cells(const Piece& piece, Range cells, float* m, float* dw) const
{
    for (int index = cells.begin; index < cells.end; ++index) {
        const int wide_block = index / input_blocks(), input_block = index % input_blocks();
        for (int point = 0; point < points; ++point)
            correlate(piece, point, input_block, wide_block, m + static_cast<std::size_t>(point) * apart_);
        loops_.weights_gradient(m, apart_, shape_.inputs, input_block, wide_block, dw);
    }
}

void WinogradWeights::add_to_sums(const Piece& piece, Range items, float* m) const
{
    for (int item = items.begin; item < items.end; ++item) {
        const int point = item / input_blocks(), input_block = item % input_blocks();
        float* of_point = m + static_cast<std::size_t>(point) * apart_;
        for (int wide_block = 0; wide_block < wide_blocks(); ++wide_block)
            correlate(piece, point, input_block, wide_block, of_point + cell_at(input_block, wide_block));
    }
}

void WinogradWeights::gradients_of_sums(const float* m, Range cells, float* dw) const
{
    for (int index = cells.begin; index < cells.end; ++index) {
        const int wide_block = index / input_blocks(), input_block = index % input_blocks();
        loops_.weights_gradient(m + cell_at(input_block, wide_block), apart_, shape_.inputs, input_block, wide_block,
                                dw);
    }
}

void WinogradWeights::run(const float* x, const float* dy, float* dw, float* db, float* scratch) const
{
    float* const m = scratch + maps_ + gradients_;
    float* const bias_sums = m + sums_;
    const auto of_thread = bias_sums_ / static_cast<std::size_t>(threads_);
    std::fill_n(bias_sums, bias_sums_, 0.0F);
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Range cells = share_of(input_blocks() * wide_blocks(), thread, threads);
        for (int first = 0; first < tiles_.count(); first += piece_) {
            const Piece now = piece(first, scratch);
            const Range mine = share_of(now.tiles.end - first, thread, threads);
            const Range tiles{first + mine.begin, first + mine.end};
            loops_.maps(tiles_, shape_.inputs, x, tiles, scratch + now.of_source.at(0, mine.begin), now.of_source);
            loops_.gradients(tiles_, shape_.outputs, dy, tiles, scratch + maps_ + now.of_gradient.at(0, mine.begin),
                             now.of_gradient, bias_sums + of_thread * static_cast<std::size_t>(thread));
#pragma omp barrier
            if (at_once())
                finish_cells(now, cells, m + points * apart_ * static_cast<std::size_t>(thread), dw);
            else
                add_to_sums(now, share_of(points * input_blocks(), thread, threads), m);
#pragma omp barrier
        }
        if (!at_once()) gradients_of_sums(m, cells, dw);
    }
    for (int o = 0; db != nullptr && o < shape_.outputs; ++o) {
        db[o] = 0;
        for (int thread = 0; thread < threads_; ++thread)
            db[o] += bias_sums[of_thread * static_cast<std::size_t>(thread) + static_cast<std::size_t>(o)];
    }
}

}  // namespace roof::onednn
