// The weights' gradient: at each of the 36 points a product of transformed maps and transformed gradients, summed over
// the tiles and shared among threads. Scratch holds both transforms of a piece of the batch, which fit an L3.
// One piece: each thread computes all 36 sums of its blocks of weights and their gradient at once.
// Several pieces: scratch holds the sums of all blocks from the first piece to the last.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/refetch.hpp"
#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {
namespace {

constexpr int points = winograd_points;
constexpr int group = 4;                       ///< blocks of weights whose sums fit the L2
constexpr int few_tiles = 112;                 ///< per piece: pays for loading and storing the sums
constexpr std::size_t of_l3 = 1U << 22U;       ///< numbers
constexpr std::size_t near_sums = 1U << 20U;   ///< numbers; loading and storing so few again is cheap
constexpr std::size_t small_sums = 1U << 22U;  ///< numbers that fit an L3

class WinogradWeights {
  public:
    WinogradWeights(const WinogradLoops& loops, const model::Convolution& shape, int threads)
        : loops_(loops),
          shape_(shape),
          lanes_(loops.lanes),
          threads_(threads),
          tiles_(shape.batch, shape.source.height, shape.source.width)
    {
        const auto all_sums = static_cast<std::size_t>(points) * static_cast<std::size_t>(shape.source.channels) *
                              static_cast<std::size_t>(shape.result.channels);
        const auto all_maps = static_cast<std::size_t>(points) * static_cast<std::size_t>(tiles_.count()) *
                              static_cast<std::size_t>(shape.source.channels + shape.result.channels);
        const bool is_at_once = all_sums > near_sums && all_maps <= of_l3;
        piece_ =
            is_at_once ? tiles_.count() : even_piece(tiles_.count(), all_sums > small_sums ? 2 * few_tiles : few_tiles);
        const auto blocks = static_cast<std::size_t>(input_blocks()) * static_cast<std::size_t>(wide_blocks());
        apart_ = odd_lines(cell() * (at_once() ? group : blocks));

        const auto team = static_cast<std::size_t>(threads_);
        maps_ = points * spread_of(piece_, shape.source.channels, lanes_, false).point;
        gradients_ = points * spread_of(piece_, shape.result.channels, 2 * lanes_, true).point;
        sums_ = points * apart_ * (at_once() ? team : 1);
        bias_sums_ = odd_lines(static_cast<std::size_t>(shape.result.channels)) * team;
    }

    std::size_t scratch() const { return maps_ + gradients_ + sums_ + bias_sums_; }

    /// Transformed maps and gradients are written and read, and so are the sums of each piece but the first.
    std::vector<Refetch> refetched() const
    {
        const double tiles = tiles_.count(), pieces = (tiles_.count() + piece_ - 1) / piece_;
        const double x = points * tiles * shape_.source.channels, dy = points * tiles * shape_.result.channels;
        const double sums = 1.0 * points * shape_.source.channels * shape_.result.channels;
        if (at_once()) return refetches({{x + dy, x * (wide_blocks() + 1) + dy * (input_blocks() + 1)}});
        return refetches({{(x / input_blocks() + dy) / pieces / points, dy * (input_blocks() - 1)},
                          {(x + dy) / pieces, 2 * (x + dy)},
                          {sums, 2 * sums * (pieces - 1)}});
    }

    void run(const ConvolutionOperands& of) const;

  private:
    /// A transformed piece of the batch.
    struct Piece {
        const float* v;
        const float* z;
        WinogradSpread of_source, of_gradient;
        Range tiles;
        bool is_first;
    };

    struct Place {
        int point, input_block, wide_block;
    };

    bool at_once() const { return piece_ == tiles_.count(); }
    int input_blocks() const { return shape_.source.channels / lanes_; }
    int wide_blocks() const { return shape_.result.channels / (2 * lanes_); }
    std::size_t cell() const { return static_cast<std::size_t>(lanes_) * 2 * static_cast<std::size_t>(lanes_); }
    std::size_t cell_at(int input_block, int wide_block) const
    {
        return cell() * static_cast<std::size_t>(input_block * wide_blocks() + wide_block);
    }

    Piece piece(int first, float* scratch) const
    {
        const int count = std::min(piece_, tiles_.count() - first);
        return {.v = scratch,
                .z = scratch + maps_,
                .of_source = spread_of(count, shape_.source.channels, lanes_, false),
                .of_gradient = spread_of(count, shape_.result.channels, 2 * lanes_, true),
                .tiles = {first, first + count},
                .is_first = first == 0};
    }

    WinogradPair pair(const Piece& piece, const Place& at) const
    {
        const auto point = static_cast<std::size_t>(at.point);
        const int skipped = common(tiles_.needing(at.point), piece.tiles).begin - piece.tiles.begin;
        return {piece.v + point * piece.of_source.point + piece.of_source.at(at.input_block, skipped),
                piece.z + point * piece.of_gradient.point + piece.of_gradient.at(2 * at.wide_block, skipped)};
    }

    /// One point's sums of one cell: a block of inputs by a wide block of outputs.
    void correlate(const Piece& piece, const Place& now, const Place& next, float* m) const
    {
        const Range needing = common(tiles_.needing(now.point), piece.tiles);
        loops_.correlate(pair(piece, now), pair(piece, next), needing.end - needing.begin, m, !piece.is_first);
    }

    void finish_cells(const Piece& piece, Range cells, float* m, float* dw) const
    {
        for (int first = cells.begin; first < cells.end; first += group) {
            const int count = std::min(group, cells.end - first);
            const auto place = [&](int item) -> Place {
                const int cell = first + item % count;
                return {item / count % points, cell % input_blocks(), cell / input_blocks()};
            };
            for (int item = 0; item < points * count; ++item)
                correlate(piece, place(item), place(item + 1),
                          m + static_cast<std::size_t>(item / count) * apart_ +
                              static_cast<std::size_t>(item % count) * cell());
            for (int index = 0; index < count; ++index) {
                const Place at = place(index);
                loops_.weights_gradient(m + static_cast<std::size_t>(index) * cell(), apart_, shape_.source.channels,
                                        at.input_block, at.wide_block, dw);
            }
        }
    }

    /// A row is one block of inputs at one point.
    void add_to_sums(const Piece& piece, Range rows, float* m) const
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

    void gradients_of_sums(const float* m, Range cells, float* dw) const
    {
        for (int index = cells.begin; index < cells.end; ++index) {
            const int wide_block = index / input_blocks(), input_block = index % input_blocks();
            loops_.weights_gradient(m + cell_at(input_block, wide_block), apart_, shape_.source.channels, input_block,
                                    wide_block, dw);
        }
    }

    const WinogradLoops& loops_;
    model::Convolution shape_;
    int lanes_;
    int threads_;
    WinogradTiles tiles_;
    int piece_;                                        ///< tiles
    std::size_t apart_;                                ///< distance between the sums of two points
    std::size_t maps_, gradients_, sums_, bias_sums_;  ///< scratch numbers of all threads
};

void WinogradWeights::run(const ConvolutionOperands& of) const
{
    float* const scratch = of.workspace;
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
            loops_.maps(tiles_, shape_.source.channels, of.source, tiles, scratch + now.of_source.at(0, mine.begin),
                        now.of_source);
            loops_.gradients(tiles_, shape_.result.channels, of.result, tiles,
                             scratch + maps_ + now.of_gradient.at(0, mine.begin), now.of_gradient,
                             bias_sums + of_thread * static_cast<std::size_t>(thread));
#pragma omp barrier
            if (at_once())
                finish_cells(now, cells, m + points * apart_ * static_cast<std::size_t>(thread), of.weights);
            else
                add_to_sums(now, share_of(points * input_blocks(), thread, threads), m);
#pragma omp barrier
        }
        if (!at_once()) gradients_of_sums(m, cells, of.weights);
    }
    for (int o = 0; of.bias != nullptr && o < shape_.result.channels; ++o) {
        of.bias[o] = 0;
        for (int thread = 0; thread < threads_; ++thread)
            of.bias[o] += bias_sums[of_thread * static_cast<std::size_t>(thread) + static_cast<std::size_t>(o)];
    }
}

}  // namespace

ConvolutionPlan plan_winograd_gradient(const WinogradLoops& loops, const ConvolutionPass& pass, int threads)
{
    return plan_of(loops.name, WinogradWeights(loops, pass, threads));
}

}  // namespace roof::kernels
