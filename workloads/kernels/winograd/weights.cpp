// The weights' gradient: at each of the 36 points a product of transformed maps and transformed gradients, summed over
// the tiles and shared among threads. Scratch holds both transforms of a piece of the batch, which fit an L3.
// One piece: each thread computes all 36 sums of its blocks of weights and their gradient at once.
// Several pieces: scratch holds the sums of all blocks from the first piece to the last.
// Small sums of many tiles: each thread has sums of its own tiles, so none reads what another one has just written:
// where threads have no cache in common (the chiplets of an EPYC) such reads took half of the time.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/refetch.hpp"
#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {
namespace {

constexpr int points = winograd_points;
constexpr int group = 4;                       ///< blocks of weights whose sums fit the L2
constexpr std::size_t cells_of_window = 9;     ///< the gradients of a block by a wide block
constexpr int least_own_tiles = 64;            ///< per thread: pays for adding up the threads' gradients
constexpr int few_tiles = 112;                 ///< per piece: pays for loading and storing the sums
constexpr std::size_t of_l3 = 1U << 22U;       ///< numbers
constexpr std::size_t near_sums = 1U << 20U;   ///< numbers; loading and storing so few again is cheap
constexpr std::size_t own_sums = 1U << 18U;    ///< numbers that fit the L2 beside others
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
        is_own_ = threads_ > 1 && all_sums <= own_sums && tiles_.count() >= threads_ * least_own_tiles;
        piece_ =
            is_at_once ? most_tiles() : even_piece(most_tiles(), all_sums > small_sums ? 2 * few_tiles : few_tiles);
        const auto blocks = static_cast<std::size_t>(input_blocks()) * static_cast<std::size_t>(wide_blocks());
        apart_ = odd_lines(cell() * (at_once() ? group : blocks));

        maps_ = points * spread_of(piece_, shape.source.channels, lanes_, false).point;
        gradients_ = points * spread_of(piece_, shape.result.channels, 2 * lanes_, true).point;
        sums_ = points * apart_;
        weights_ = is_own_ ? odd_lines(cells_of_window * cell() * blocks) : 0;
        bias_sums_ = odd_lines(static_cast<std::size_t>(shape.result.channels));
    }

    std::size_t scratch() const
    {
        const auto team = static_cast<std::size_t>(threads_);
        const std::size_t maps = maps_ + gradients_;
        return (is_own_ ? team * (maps + sums_) : maps + sums_ * (at_once() ? team : 1)) +
               team * (weights_ + bias_sums_);
    }

    /// Transformed maps and gradients are written and read, and so are the sums of each piece but the first.
    std::vector<Refetch> refetched() const
    {
        const double tiles = tiles_.count(), pieces = (most_tiles() + piece_ - 1) / piece_;
        const double x = points * tiles * shape_.source.channels, dy = points * tiles * shape_.result.channels;
        const double sums = (is_own_ ? threads_ : 1.0) * points * shape_.source.channels * shape_.result.channels;
        if (at_once()) return refetches({{x + dy, x * (wide_blocks() + 1) + dy * (input_blocks() + 1)}});
        return refetches({{(x / input_blocks() + dy) / pieces / points, dy * (input_blocks() - 1)},
                          {(x + dy) / pieces, 2 * (x + dy)},
                          {sums, 2 * sums * (pieces - 1)}});
    }

    void run(const ConvolutionOperands& of) const;

  private:
    /// A transformed piece of the batch.
    struct Piece {
        const WinogradTiles* order;
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

    WinogradTiles own_tiles(int thread, int threads) const
    {
        return {shape_.batch, shape_.source.height, shape_.source.width, thread, threads};
    }

    /// Of a thread that has its own, or of all.
    int most_tiles() const { return is_own_ ? own_tiles(threads_ - 1, threads_).count() : tiles_.count(); }

    Piece piece(const WinogradTiles& order, int first, float* scratch) const
    {
        const int count = std::min(piece_, order.count() - first);
        return {.order = &order,
                .v = scratch,
                .z = scratch + maps_,
                .of_source = spread_of(count, shape_.source.channels, lanes_, false),
                .of_gradient = spread_of(count, shape_.result.channels, 2 * lanes_, true),
                .tiles = {first, first + count},
                .is_first = first == 0};
    }

    WinogradPair pair(const Piece& piece, const Place& at) const
    {
        const auto point = static_cast<std::size_t>(at.point);
        const int skipped = common(piece.order->needing(at.point), piece.tiles).begin - piece.tiles.begin;
        return {piece.v + point * piece.of_source.point + piece.of_source.at(at.input_block, skipped),
                piece.z + point * piece.of_gradient.point + piece.of_gradient.at(2 * at.wide_block, skipped)};
    }

    /// Writes a piece's maps and gradients of these tiles to scratch. bias_sums: the thread's.
    void transform(const ConvolutionOperands& of, const Piece& piece, Range tiles, float* scratch,
                   float* bias_sums) const;
    /// In each thread of the team.
    void of_all_tiles(const ConvolutionOperands& of, float* bias_sums) const;
    /// The same. gradients: scratch, of each thread in turn.
    void of_own_tiles(const ConvolutionOperands& of, float* gradients, float* bias_sums) const;

    /// One point's sums of one cell: a block of inputs by a wide block of outputs.
    void correlate(const Piece& piece, const Place& now, const Place& next, float* m) const
    {
        const Range needing = common(piece.order->needing(now.point), piece.tiles);
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
    bool is_own_ = false;  ///< each thread has sums of its own
    int piece_;            ///< tiles
    std::size_t apart_;    ///< distance between the sums of two points
    /// Scratch numbers: of a piece; of one thread's sums; of one thread.
    std::size_t maps_, gradients_, sums_, weights_, bias_sums_;
};

void WinogradWeights::transform(const ConvolutionOperands& of, const Piece& piece, Range tiles, float* scratch,
                                float* bias_sums) const
{
    const int begin = tiles.begin - piece.tiles.begin;
    loops_.maps(*piece.order, shape_.source.channels, of.source, tiles, scratch + piece.of_source.at(0, begin),
                piece.of_source);
    loops_.gradients(*piece.order, shape_.result.channels, of.result, tiles,
                     scratch + maps_ + piece.of_gradient.at(0, begin), piece.of_gradient, bias_sums);
}

void WinogradWeights::of_all_tiles(const ConvolutionOperands& of, float* bias_sums) const
{
    float* const scratch = of.workspace;
    float* const m = scratch + maps_ + gradients_;
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const Range cells = share_of(input_blocks() * wide_blocks(), thread, threads);
    for (int first = 0; first < tiles_.count(); first += piece_) {
        const Piece now = piece(tiles_, first, scratch);
        const Range mine = share_of(now.tiles.end - first, thread, threads);
        transform(of, now, {first + mine.begin, first + mine.end}, scratch, bias_sums);
#pragma omp barrier
        if (at_once())
            finish_cells(now, cells, m + sums_ * static_cast<std::size_t>(thread), of.weights);
        else
            add_to_sums(now, share_of(points * input_blocks(), thread, threads), m);
#pragma omp barrier
    }
    if (!at_once()) gradients_of_sums(m, cells, of.weights);
}

void WinogradWeights::of_own_tiles(const ConvolutionOperands& of, float* gradients, float* bias_sums) const
{
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const WinogradTiles mine = own_tiles(thread, threads);
    float* const scratch = of.workspace + (maps_ + gradients_ + sums_) * static_cast<std::size_t>(thread);
    float* const m = scratch + maps_ + gradients_;
    for (int first = 0; first < mine.count(); first += piece_) {
        const Piece now = piece(mine, first, scratch);
        transform(of, now, now.tiles, scratch, bias_sums);
        add_to_sums(now, {0, points * input_blocks()}, m);
    }
    const int all = input_blocks() * wide_blocks();
    gradients_of_sums(m, {0, all}, gradients + weights_ * static_cast<std::size_t>(thread));
#pragma omp barrier
    const Range cells = share_of(all, thread, threads);
    const std::size_t begin = cells_of_window * cell() * static_cast<std::size_t>(cells.begin);
    const std::size_t end = cells_of_window * cell() * static_cast<std::size_t>(cells.end);
    std::copy(gradients + begin, gradients + end, of.weights + begin);
    for (int other = 1; other < threads; ++other) {
        const float* const more = gradients + weights_ * static_cast<std::size_t>(other);
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) of.weights[i] += more[i];
    }
}

void WinogradWeights::run(const ConvolutionOperands& of) const
{
    const auto team = static_cast<std::size_t>(threads_);
    float* const bias_sums = of.workspace + scratch() - team * bias_sums_;
    float* const gradients = bias_sums - team * weights_;
    std::fill_n(bias_sums, team * bias_sums_, 0.0F);
#pragma omp parallel num_threads(threads_)
    {
        float* const own_bias = bias_sums + bias_sums_ * static_cast<std::size_t>(omp_get_thread_num());
        if (is_own_)
            of_own_tiles(of, gradients, own_bias);
        else
            of_all_tiles(of, own_bias);
    }
    for (int o = 0; of.bias != nullptr && o < shape_.result.channels; ++o) {
        of.bias[o] = 0;
        for (std::size_t thread = 0; thread < team; ++thread)
            of.bias[o] += bias_sums[bias_sums_ * thread + static_cast<std::size_t>(o)];
    }
}

}  // namespace

ConvolutionPlan plan_winograd_gradient(const WinogradLoops& loops, const ConvolutionPass& pass, int threads)
{
    return plan_of(loops.name, WinogradWeights(loops, pass, threads));
}

}  // namespace roof::kernels
