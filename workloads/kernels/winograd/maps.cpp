// The forward and backward_data passes between maps of one size, shared among threads.
// Small weights: all weights are transformed first. Each thread then takes its tiles in pieces: source transform,
// products point by point, results. A piece fits the L2, or is large enough to amortise weights from outside it.
// Large weights: all maps are transformed first. Each thread then transforms a wide block of weights and uses it at
// once, because transformed weights are four times as large and must not reach memory.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/refetch.hpp"
#include "workloads/kernels/winograd/isa.hpp"

namespace roof::kernels {
namespace {

constexpr std::size_t points = winograd_points;
constexpr std::size_t of_l2 = 1U << 16U;          ///< numbers; the rest of the L2 is for other data
constexpr std::size_t near_weights = 1U << 20U;   ///< numbers; rereading so few for some tiles is cheap
constexpr std::size_t small_weights = 1U << 22U;  ///< numbers that fit an L3
constexpr int few_tiles = 256;
constexpr int rows = 14;  ///< tiles that a product takes at a time

class WinogradMaps {
  public:
    WinogradMaps(const WinogradLoops& loops, const ConvolutionPass& shape, int threads)
        : loops_(loops),
          is_backward_(shape.pass == Pass::backward_data),
          relu_(shape.relu),
          shape_(shape),
          from_(is_backward_ ? shape.result.channels : shape.source.channels),
          to_(is_backward_ ? shape.source.channels : shape.result.channels),
          threads_(threads),
          all_(tiles(0, 1))
    {
        const std::size_t all_weights = slab() * static_cast<std::size_t>(wide_blocks());
        const bool is_near = all_weights <= near_weights;
        by_channels_ = all_weights > small_weights && all_.count() <= few_tiles;
        group_ = is_near || by_channels_ ? 1 : wide_blocks();
        constexpr int kinds = 4;  // of tiles; each kind is divided among the threads
        const int own_tiles = all_.count() / threads_ + kinds;
        const int fitting = static_cast<int>(of_l2 / (points * static_cast<std::size_t>(from_)));
        const int least = (is_near ? 2 : 8) * rows;
        piece_ = by_channels_ ? all_.count() : even_piece(own_tiles, std::max(least, fitting));

        const auto team = static_cast<std::size_t>(threads_);
        weights_ = by_channels_ ? slab() * team : all_weights;
        maps_ = points * spread(piece_).point * (by_channels_ ? 1 : team);
        sums_ = points * sums_spread(piece_).point;
    }

    std::size_t scratch() const { return weights_ + maps_ + sums_ * static_cast<std::size_t>(threads_); }

    /// Transformed maps, weights and sums are written and read once at least. Of a product, 14 tiles share a weight.
    std::vector<Refetch> refetched() const
    {
        const double threads = threads_, tiles = all_.count(), of_point = 2.0 * loops_.lanes * from_;
        const double maps = points * tiles * from_, sums = points * tiles * to_, weights = 1.0 * points * from_ * to_;
        const double pieces = by_channels_ ? 1 : std::max(threads, tiles / piece_), piece = maps / pieces;
        const double of_group = threads * sums / pieces * group_ / wide_blocks();
        return refetches({{threads * (of_point + rows * from_), weights * (tiles / rows - pieces)},
                          {by_channels_ ? piece : threads * piece, maps * (wide_blocks() + 1)},
                          {by_channels_ ? threads * points * of_point : weights, weights * (pieces + 1)},
                          {of_group, 2 * sums}});
    }

    void run(const ConvolutionOperands& of) const
    {
        const Job job = is_backward_ ? Job{of.result, of.weights, {}, of.source, of.workspace}
                                     : Job{of.source, of.weights, {of.bias, relu_}, of.result, of.workspace};
        if (by_channels_)
            by_channels(job);
        else
            by_tiles(job);
    }

  private:
    struct Job {
        Elements x;
        const float* w;
        WinogradEnd end;
        Elements y;
        float* scratch;
    };

    void by_tiles(const Job& job) const;
    void by_channels(const Job& job) const;
    /// Computes tiles in a group of wide blocks. v, u: of the first tile and block; m: scratch.
    void results(const Job& job, const WinogradTiles& order, Range tiles, Range blocks, const float* v, const float* u,
                 float* m) const
    {
        const int group = blocks.end - blocks.begin;
        const WinogradSpread places = spread(tiles.end - tiles.begin), sums = sums_spread(tiles.end - tiles.begin);
        const auto factors = [&](int item) {  // one point's blocks, then the next point's
            return u + slab() * static_cast<std::size_t>(item % group) +
                   slab() / points * static_cast<std::size_t>(item / group % winograd_points);
        };
        for (int item = 0; item < winograd_points * group; ++item) {
            const auto point = static_cast<std::size_t>(item / group);
            const Range needing = common(order.needing(item / group), tiles);
            loops_.products(v + point * places.point, places.block,
                            {needing.begin - tiles.begin, needing.end - tiles.begin}, from_, factors(item),
                            factors(item + 1), m + point * sums.point + sums.at(2 * (item % group), 0));
        }
        loops_.results(order, to_, m, sums, tiles, blocks, job.end, job.y);
    }

    WinogradTiles tiles(int thread, int threads) const
    {
        return {shape_.batch, shape_.source.height, shape_.source.width, thread, threads};
    }

    /// Numbers of a wide block's transformed weights.
    std::size_t slab() const
    {
        return points * odd_lines(static_cast<std::size_t>(from_) * 2 * static_cast<std::size_t>(loops_.lanes));
    }

    int wide_blocks() const { return to_ / (2 * loops_.lanes); }

    WinogradSpread spread(int tiles) const { return spread_of(tiles, from_, loops_.lanes, false); }

    WinogradSpread sums_spread(int tiles) const
    {
        return spread_of(tiles, 2 * loops_.lanes * group_, 2 * loops_.lanes, true);
    }

    /// One thread's sums, or the first sums if it is 0.
    float* sums_of(float* scratch, int thread) const
    {
        return scratch + weights_ + maps_ + sums_ * static_cast<std::size_t>(thread);
    }

    const WinogradLoops& loops_;
    bool is_backward_;
    bool relu_;
    model::Convolution shape_;
    int from_, to_;  ///< channel counts
    int threads_;
    WinogradTiles all_;
    int piece_ = 1;  ///< tiles per call of the products
    int group_ = 1;  ///< wide blocks per call of the products
    bool by_channels_ = false;
    std::size_t weights_ = 0, maps_ = 0, sums_ = 0;  ///< scratch numbers: total, total, per thread
};

void WinogradMaps::by_tiles(const Job& job) const
{
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Range blocks = share_of(wide_blocks(), thread, threads);
        loops_.weights(shape_, is_backward_, job.w, job.scratch + slab() * static_cast<std::size_t>(blocks.begin),
                       blocks);
#pragma omp barrier
        float* v =
            job.scratch + weights_ + maps_ / static_cast<std::size_t>(threads_) * static_cast<std::size_t>(thread);
        const WinogradTiles mine = tiles(thread, threads);
        for (int first = 0; first < mine.count(); first += piece_) {
            const Range piece{first, std::min(mine.count(), first + piece_)};
            loops_.maps(mine, from_, job.x, piece, v, spread(piece.end - piece.begin));
            for (int block = 0; block < wide_blocks(); block += group_)
                results(job, mine, piece, {block, block + group_}, v,
                        job.scratch + slab() * static_cast<std::size_t>(block), sums_of(job.scratch, thread));
        }
    }
}

void WinogradMaps::by_channels(const Job& job) const
{
    float* v = job.scratch + weights_;
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Range mine = share_of(all_.count(), thread, threads);
        const WinogradSpread places = spread(all_.count());
        loops_.maps(all_, from_, job.x, mine, v + places.at(0, mine.begin), places);
#pragma omp barrier
        float* u = job.scratch + slab() * static_cast<std::size_t>(thread);
        const Range blocks = share_of(wide_blocks(), thread, threads);
        for (int block = blocks.begin; block < blocks.end; ++block) {
            loops_.weights(shape_, is_backward_, job.w, u, {block, block + 1});
            results(job, all_, {0, all_.count()}, {block, block + 1}, v, u, sums_of(job.scratch, thread));
        }
    }
}

}  // namespace

ConvolutionPlan plan_winograd_maps(const WinogradLoops& loops, const ConvolutionPass& pass, int threads)
{
    return plan_of(loops.name, WinogradMaps(loops, pass, threads));
}

}  // namespace roof::kernels
