#include "workloads/kernels/winograd/maps.hpp"

#include "workloads/kernels/parallel.hpp"

namespace roof::kernels {
namespace {

constexpr std::size_t points = winograd_points;
constexpr std::size_t of_l2 = 1U << 16U;          ///< numbers; the rest of the L2 is for other data
constexpr std::size_t near_weights = 1U << 20U;   ///< numbers; rereading so few for some tiles is cheap
constexpr std::size_t small_weights = 1U << 22U;  ///< numbers that fit an L3
constexpr int few_tiles = 256;
constexpr int rows = 14;  ///< tiles that a product takes at a time

}  // namespace

struct WinogradMaps::Job {
    Elements x;
    const float* w;
    WinogradEnd end;
    Elements y;
    float* scratch;
};

WinogradMaps::WinogradMaps(const WinogradLoops& loops, Pass pass, const ConvolutionShape& shape,
                           const ConvolutionOptions& options)
    : loops_(loops),
      is_backward_(pass == Pass::backward_data),
      relu_(options.relu),
      shape_(shape),
      from_(is_backward_ ? shape.outputs : shape.inputs),
      to_(is_backward_ ? shape.inputs : shape.outputs),
      threads_(options.threads),
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

WinogradTiles WinogradMaps::tiles(int thread, int threads) const
{
    return {shape_.batch, shape_.height, shape_.width, thread, threads};
}

int WinogradMaps::wide_blocks() const
{
    return to_ / (2 * loops_.lanes);
}

std::size_t WinogradMaps::slab() const
{
    return points * odd_lines(static_cast<std::size_t>(from_ * 2 * loops_.lanes));
}

WinogradSpread WinogradMaps::spread(int tiles) const
{
    const auto lanes = static_cast<std::size_t>(loops_.lanes);
    const auto count = static_cast<std::size_t>(tiles);
    return {.point = odd_lines(count * static_cast<std::size_t>(from_)), .block = count * lanes, .tile = lanes};
}

WinogradSpread WinogradMaps::sums_spread(int tiles) const
{
    const auto wide = static_cast<std::size_t>(2 * loops_.lanes);
    const auto count = static_cast<std::size_t>(tiles);
    return {.point = odd_lines(count * wide * static_cast<std::size_t>(group_)),
            .block = count * wide,
            .tile = wide,
            .paired = true};
}

std::size_t WinogradMaps::scratch() const
{
    return weights_ + maps_ + sums_ * static_cast<std::size_t>(threads_);
}

float* WinogradMaps::sums_of(float* scratch, int thread) const
{
    return scratch + weights_ + maps_ + sums_ * static_cast<std::size_t>(thread);
}

void WinogradMaps::run(const Elements& x, const float* w, const float* bias, const Elements& y, float* scratch) const
{
    const Job job{x, w, {bias, relu_}, y, scratch};
    if (by_channels_)
        by_channels(job);
    else
        by_tiles(job);
}

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

void WinogradMaps::results(const Job& job, const WinogradTiles& order, Range tiles, Range blocks, const float* v,
                           const float* u, float* m) const
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

}  // namespace roof::kernels
