#include "workloads/kernels/winograd/weights.hpp"

#include "workloads/kernels/parallel.hpp"

namespace roof::kernels {
namespace {

constexpr int points = winograd_points;
constexpr int group = 4;                       ///< blocks of weights whose sums fit the L2
constexpr int few_tiles = 112;                 ///< per piece: pays for loading and storing the sums
constexpr std::size_t of_l3 = 1U << 22U;       ///< numbers
constexpr std::size_t near_sums = 1U << 20U;   ///< numbers; loading and storing so few again is cheap
constexpr std::size_t small_sums = 1U << 22U;  ///< numbers that fit an L3

}  // namespace

WinogradWeights::WinogradWeights(const WinogradLoops& loops, const ConvolutionShape& shape,
                                 const ConvolutionOptions& options)
    : loops_(loops),
      shape_(shape),
      lanes_(loops.lanes),
      threads_(options.threads),
      tiles_(shape.batch, shape.height, shape.width)
{
    const auto all_sums = static_cast<std::size_t>(points) * static_cast<std::size_t>(shape.inputs) *
                          static_cast<std::size_t>(shape.outputs);
    const auto all_maps = static_cast<std::size_t>(points) * static_cast<std::size_t>(tiles_.count()) *
                          static_cast<std::size_t>(shape.inputs + shape.outputs);
    const bool is_at_once = all_sums > near_sums && all_maps <= of_l3;
    piece_ =
        is_at_once ? tiles_.count() : even_piece(tiles_.count(), all_sums > small_sums ? 2 * few_tiles : few_tiles);
    const auto blocks = static_cast<std::size_t>(input_blocks()) * static_cast<std::size_t>(wide_blocks());
    apart_ = odd_lines(cell() * (at_once() ? group : blocks));

    const auto team = static_cast<std::size_t>(threads_);
    maps_ = points * spread(piece_, shape.inputs, lanes_).point;
    gradients_ = points * spread(piece_, shape.outputs, 2 * lanes_).point;
    sums_ = points * apart_ * (at_once() ? team : 1);
    bias_sums_ = odd_lines(static_cast<std::size_t>(shape.outputs)) * team;
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
    return {.point = odd_lines(count * static_cast<std::size_t>(channels)),
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

WinogradPair WinogradWeights::pair(const Piece& piece, const Place& at) const
{
    const auto point = static_cast<std::size_t>(at.point);
    const int skipped = common(tiles_.needing(at.point), piece.tiles).begin - piece.tiles.begin;
    return {piece.v + point * piece.of_source.point + piece.of_source.at(at.input_block, skipped),
            piece.z + point * piece.of_gradient.point + piece.of_gradient.at(2 * at.wide_block, skipped)};
}

void WinogradWeights::correlate(const Piece& piece, const Place& now, const Place& next, float* m) const
{
    const Range needing = common(tiles_.needing(now.point), piece.tiles);
    loops_.correlate(pair(piece, now), pair(piece, next), needing.end - needing.begin, m, !piece.is_first);
}

void WinogradWeights::finish_cells(const Piece& piece, Range cells, float* m, float* dw) const
{
    for (int first = cells.begin; first < cells.end; first += group) {
        const int count = std::min(group, cells.end - first);
        const auto place = [&](int item) -> Place {
            const int cell = first + item % count;
            return {item / count % points, cell % input_blocks(), cell / input_blocks()};
        };
        for (int item = 0; item < points * count; ++item)
            correlate(
                piece, place(item), place(item + 1),
                m + static_cast<std::size_t>(item / count) * apart_ + static_cast<std::size_t>(item % count) * cell());
        for (int index = 0; index < count; ++index) {
            const Place at = place(index);
            loops_.weights_gradient(m + static_cast<std::size_t>(index) * cell(), apart_, shape_.inputs, at.input_block,
                                    at.wide_block, dw);
        }
    }
}

void WinogradWeights::add_to_sums(const Piece& piece, Range rows, float* m) const
{
    const auto place = [&](int item) -> Place {
        const int row = item / wide_blocks() % (points * input_blocks());
        return {row / input_blocks(), row % input_blocks(), item % wide_blocks()};
    };
    for (int item = rows.begin * wide_blocks(); item < rows.end * wide_blocks(); ++item) {
        const Place now = place(item);
        correlate(piece, now, place(item + 1),
                  m + static_cast<std::size_t>(now.point) * apart_ + cell_at(now.input_block, now.wide_block));
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

void WinogradWeights::run(const Elements& x, const Elements& dy, float* dw, float* db, float* scratch) const
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

}  // namespace roof::kernels
