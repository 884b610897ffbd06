#include "workloads/onednn/loops/winograd_maps.hpp"

#include "workloads/onednn/loops/parallel.hpp"

namespace roof::onednn {
namespace {

constexpr std::size_t points = winograd_points;
constexpr std::size_t of_l2 = 1U << 16U;          ///< numbers; a neighbour on the core may want its half
constexpr std::size_t small_weights = 1U << 22U;  ///< numbers that an L3 holds
constexpr int few_tiles = 256;

}  // namespace

struct WinogradMaps::Job {
    const float* x;
    const float* w;
    decltype(WinogradLoops::weights) make_weights;
    WinogradEnd end;
    float* y;
    float* scratch;
};

WinogradMaps::WinogradMaps(const WinogradLoops& loops, const WinogradShape& shape, int from, int to, int threads)
    : loops_(loops),
      shape_(shape),
      from_{from, shape.height, shape.width},
      to_{to, shape.height, shape.width},
      threads_(threads),
      tiles_(shape.batch * from_.tiles())
{
    constexpr int rows = 14;  // that the products take at a time
    const std::size_t all_weights = points * static_cast<std::size_t>(from) * static_cast<std::size_t>(to);
    const bool is_large = all_weights > small_weights;
    by_channels_ = is_large && tiles_ <= few_tiles;
    const int fitting = static_cast<int>(of_l2 / (points * static_cast<std::size_t>(from)));
    const int own_tiles = (tiles_ + threads - 1) / threads;
    piece_ = by_channels_ ? std::min(tiles_, 4 * rows)
                          : even_piece(own_tiles, std::max(is_large ? 8 : 2, fitting / rows) * rows);

    const auto team = static_cast<std::size_t>(threads);
    weights_ = by_channels_ ? slab() * team : all_weights;
    maps_ = points * (by_channels_ ? spread(tiles_).point : spread(piece_).point * team);
    sums_ = winograd_sums(piece_, loops_.lanes);
}

int WinogradMaps::wide_blocks() const
{
    return to_.channels / (2 * loops_.lanes);
}

std::size_t WinogradMaps::slab() const
{
    return points * static_cast<std::size_t>(from_.channels * 2 * loops_.lanes);
}

WinogradSpread WinogradMaps::spread(int tiles) const
{
    const auto lanes = static_cast<std::size_t>(loops_.lanes);
    const auto count = static_cast<std::size_t>(tiles);
    return {.point = winograd_apart(count * static_cast<std::size_t>(from_.channels)),
            .block = count * lanes,
            .tile = lanes};
}

std::size_t WinogradMaps::scratch() const
{
    return weights_ + maps_ + sums_ * static_cast<std::size_t>(threads_);
}

float* WinogradMaps::sums_of(float* scratch, int thread) const
{
    return scratch + weights_ + maps_ + sums_ * static_cast<std::size_t>(thread);
}

void WinogradMaps::run(const float* x, const float* w, decltype(WinogradLoops::weights) make_weights,
                       const WinogradEnd& end, float* y, float* scratch) const
{
    const Job job{x, w, make_weights, end, y, scratch};
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
        job.make_weights(shape_, job.w, job.scratch + slab() * static_cast<std::size_t>(blocks.begin), blocks);
#pragma omp barrier
        float* v =
            job.scratch + weights_ + maps_ / static_cast<std::size_t>(threads_) * static_cast<std::size_t>(thread);
        const Range mine = share_of(tiles_, thread, threads);
        for (int first = mine.begin; first < mine.end; first += piece_) {
            const Range tiles{first, std::min(mine.end, first + piece_)};
            const WinogradSpread places = spread(tiles.end - tiles.begin);
            loops_.maps(from_, job.x, tiles, v, places);
            for (int block = 0; block < wide_blocks(); ++block)
                loops_.results(to_, v, places, from_.channels, job.scratch + static_cast<std::size_t>(block) * slab(),
                               sums_of(job.scratch, thread), tiles, block, job.end, job.y);
        }
    }
}

void WinogradMaps::by_channels(const Job& job) const
{
    const WinogradSpread places = spread(tiles_);
    float* v = job.scratch + weights_;
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Range mine = share_of(tiles_, thread, threads);
        loops_.maps(from_, job.x, mine, v + places.at(0, mine.begin), places);
#pragma omp barrier
        float* u = job.scratch + slab() * static_cast<std::size_t>(thread);
        const Range blocks = share_of(wide_blocks(), thread, threads);
        for (int block = blocks.begin; block < blocks.end; ++block) {
            job.make_weights(shape_, job.w, u, {block, block + 1});
            for (int first = 0; first < tiles_; first += piece_)
                loops_.results(to_, v + places.at(0, first), places, from_.channels, u, sums_of(job.scratch, thread),
                               {first, std::min(tiles_, first + piece_)}, block, job.end, job.y);
        }
    }
}

}  // namespace roof::onednn
