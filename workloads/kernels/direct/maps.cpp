#include "workloads/kernels/direct/maps.hpp"

#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/pieces.hpp"

#include <array>

namespace roof::kernels {
namespace {

constexpr std::size_t weights_of_l2 = 96 * 1024;  ///< numbers
constexpr std::size_t source_of_l2 = 32 * 1024;
constexpr std::size_t more_than_l3 = 4 << 20;  ///< numbers; a cache keeps few of them until they are read
constexpr std::size_t line = 16;

std::size_t size(int count)
{
    return static_cast<std::size_t>(count);
}

int at_least_one(std::size_t count)
{
    return static_cast<int>(std::max<std::size_t>(1, count));
}

DirectAxis axis_of(Pass pass, const ConvolutionShape& shape, int length)
{
    return pass == Pass::forward ? direct_forward_axis(shape, length) : direct_backward_axis(shape, length);
}

}  // namespace

struct DirectMaps::Job {
    const float* source;
    const float* weights;
    const float* turned;  ///< weights of the current group and chunk; null: `weights` are used directly
    const float* bias;
    bool relu;
    float* result;
};

/// Rows of results of one image or two, for a group of outputs and a chunk of inputs.
struct DirectMaps::Strip {
    Range units, pairs, blocks, rows;
    int image, images;
};

/// One row of a strip, in one class.
struct DirectMaps::Row {
    const Job& job;
    const Strip& strip;
    const DirectClass& down;
    int index;
    const float* source;  ///< source that the tiles read
    int first_row;        ///< first row of the map at `source`
    DirectDistances apart;
    DirectAhead ahead;
};

DirectMaps::DirectMaps(const DirectLoops& loops, Pass pass, const ConvolutionShape& shape, int threads)
    : loops_(loops),
      pass_(pass),
      batch_(shape.batch),
      window_(shape.window),
      threads_(threads),
      from_((pass == Pass::forward ? shape.inputs : shape.outputs) / loops.lanes),
      to_((pass == Pass::forward ? shape.outputs : shape.inputs) / loops.lanes),
      down_(axis_of(pass, shape, shape.height)),
      across_(axis_of(pass, shape, shape.width)),
      frame_(across_, down_.source, loops.lanes)
{
    choose_sizes();
}

void DirectMaps::choose_sizes()
{
    const int pairs = to_ / 2;
    chunk_ = even_piece(from_, at_least_one(weights_of_l2 / (2 * weights_of_block())));
    pairs_ = even_piece(pairs, at_least_one(weights_of_l2 / (2 * weights_of_block() * size(chunk_))));
    groups_ = (pairs + pairs_ - 1) / pairs_;
    images_ = batch_ > 1 && 2 * across_.most() <= loops_.pixels ? 2 : 1;
    const auto needed = [&](int rows) { return frame_.in_frame(down_.span(rows), chunk_).image * size(images_); };
    rows_ = down_.most();
    while (rows_ > 1 && needed(rows_) > source_of_l2) --rows_;
    rows_ = even_piece(down_.most(), rows_);
}

std::size_t DirectMaps::weights_of_block() const
{
    return size(loops_.lanes * loops_.lanes * window_ * window_);
}

std::size_t DirectMaps::turned() const
{
    return pass_ == Pass::forward ? 0 : weights_of_block() * size(2 * pairs_ * chunk_);
}

std::size_t DirectMaps::frame() const
{
    return frame_.is_needed() ? frame_.in_frame(down_.span(rows_), chunk_).image * size(images_) : 0;
}

std::size_t DirectMaps::scratch() const
{
    return (turned() + frame()) * size(threads_);
}

void DirectMaps::run(const float* source, const float* weights, const float* bias, bool relu, float* result,
                     float* scratch) const
{
    const Job job{source, weights, nullptr, bias, relu, result};
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        work_off(job, share_of(groups_ * units_of_group(), thread, threads),
                 scratch + (turned() + frame()) * size(thread));
    }
}

void DirectMaps::work_off(Job job, Range mine, float* scratch) const
{
    Strip strip = strip_at(mine.begin, mine.end, 0), next = strip;
    int pair = -1, block = -1;  // position of the turned weights
    for (bool more = mine.begin < mine.end; more; strip = next) {
        if (turned() > 0 && (strip.pairs.begin != pair || strip.blocks.begin != block)) {
            pair = strip.pairs.begin;
            block = strip.blocks.begin;
            loops_.turn(job.weights, to_, window_ * window_, {2 * pair, 2 * strip.pairs.end}, strip.blocks, scratch);
            job.turned = scratch;
        }
        more = advance(mine, next);
        compute(job, strip, next, scratch + turned());
    }
}

DirectMaps::Strip DirectMaps::strip_at(int unit, int end, int block) const
{
    const int rows = down_.most(), row = unit % rows;
    const int group = unit / units_of_group(), image = unit / rows % image_units() * images_;
    end = std::min({end, unit - row + rows, unit + rows_});
    return {.units = {unit, end},
            .pairs = {group * pairs_, std::min(to_ / 2, (group + 1) * pairs_)},
            .blocks = {block, std::min(from_, block + chunk_)},
            .rows = {row, row + end - unit},
            .image = image,
            .images = std::min(images_, batch_ - image)};
}

bool DirectMaps::advance(Range mine, Strip& strip) const
{
    const int group = strip.units.begin / units_of_group() * units_of_group();
    const int end = std::min(mine.end, group + units_of_group());
    if (strip.units.end < end)
        strip = strip_at(strip.units.end, mine.end, strip.blocks.begin);
    else if (strip.blocks.end < from_)
        strip = strip_at(std::max(mine.begin, group), mine.end, strip.blocks.end);
    else if (end < mine.end)
        strip = strip_at(end, mine.end, 0);
    else
        return false;
    return true;
}

int DirectMaps::tiles_in(const Strip& strip) const
{
    int tiles = 0;
    const int most = loops_.pixels / strip.images;
    for (const DirectClass& down : down_.classes) {
        if (down.taps.begin() == down.taps.end()) continue;
        const Range rows = common(strip.rows, {0, down.count});
        for (const DirectClass& across : across_.classes)
            tiles += (rows.end - rows.begin) * ((across.count + most - 1) / most);
    }
    return tiles * (strip.pairs.end - strip.pairs.begin);
}

/// Returns the source of the strip's first image and block in the map.
const float* DirectMaps::source_of(const float* source, const Strip& strip) const
{
    const DirectDistances apart = frame_.in_map(from_);
    return source + apart.image * size(strip.image) + apart.block * size(strip.blocks.begin);
}

/// Returns the part of the next strip's source that each tile of this strip fetches.
DirectAhead DirectMaps::ahead_of(const Job& job, const Strip& strip, const Strip& next) const
{
    const int first = next.rows.begin * down_.advance + down_.low();
    const Range rows = common({0, down_.source}, {first, first + down_.span(next.rows.end - next.rows.begin)});
    const DirectDistances apart = frame_.in_map(from_);
    const auto lines = static_cast<int>(apart.row * size(rows.end - rows.begin) / line);
    return {source_of(job.source, next) + apart.row * size(rows.begin), apart.block, apart.image,
            lines / tiles_in(strip) + 1};
}

void DirectMaps::fill(const Job& job, const Strip& strip, float* frame) const
{
    const DirectDistances map = frame_.in_map(from_), apart = frame_.in_frame(down_.span(rows_), chunk_);
    const int first = strip.rows.begin * down_.advance + down_.low();
    const int rows = down_.span(strip.rows.end - strip.rows.begin);
    for (int image = 0; image < strip.images; ++image) {
        for (int block = 0; block < strip.blocks.end - strip.blocks.begin; ++block) {
            const float* from = source_of(job.source, strip) + map.image * size(image) + map.block * size(block);
            float* to = frame + apart.image * size(image) + apart.block * size(block);
            for (int row = std::max(0, -first); row < std::min(rows, down_.source - first); ++row)
                frame_.fill_row(from + map.row * size(first + row), to + apart.row * size(row));
        }
    }
}

void DirectMaps::compute(const Job& job, const Strip& strip, const Strip& next, float* frame) const
{
    const bool framed = frame_.is_needed();
    if (framed) fill(job, strip, frame);
    DirectAhead ahead = ahead_of(job, strip, next);
    for (int index = strip.rows.begin; index < strip.rows.end; ++index) {
        for (const DirectClass& down : down_.classes) {
            if (index >= down.count) continue;
            if (down.taps.begin() == down.taps.end()) {
                clear_row(job, strip, down.first + index * down_.step);
                continue;
            }
            Row row{job,
                    strip,
                    down,
                    index,
                    framed ? frame : source_of(job.source, strip),
                    framed ? strip.rows.begin * down_.advance + down_.low() : 0,
                    framed ? frame_.in_frame(down_.span(rows_), chunk_) : frame_.in_map(from_),
                    ahead};
            for (const DirectClass& across : across_.classes) compute(row, across);
            ahead = row.ahead;
        }
    }
}

/// Clears results that no window of the forward pass touched.
void DirectMaps::clear_row(const Job& job, const Strip& strip, int row) const
{
    if (strip.blocks.begin > 0) return;
    const std::size_t numbers = size(across_.result * loops_.lanes);
    for (int image = strip.image; image < strip.image + strip.images; ++image) {
        for (int block = 2 * strip.pairs.begin; block < 2 * strip.pairs.end; ++block)
            std::fill_n(job.result + numbers * size((image * to_ + block) * down_.result + row), numbers, 0.0F);
    }
}

void DirectMaps::compute(Row& row, const DirectClass& across) const
{
    std::array<DirectTap, direct_largest_window * direct_largest_window> taps;
    const Strip& strip = row.strip;
    for (int column = 0, next = 0; column < across.count; column += next) {
        next = even_piece(across.count - column, loops_.pixels / strip.images);
        DirectTile tile = tile_of(row, across, column);
        tile.taps = taps.data();
        tile.tap_count = taps_of(row, across, {column, column + next}, taps.data());
        if (tile.tap_count == 0 && tile.add) continue;
        for (int pair = strip.pairs.begin; pair < strip.pairs.end; ++pair) {
            tile.ahead = row.ahead;
            loops_.tile(tile, strip.images, next, frame_.step());
            row.ahead.from += size(row.ahead.lines) * line;
            tile.weights += 2 * tile.weights_result;
            tile.result += 2 * tile.result_block;
            if (tile.bias != nullptr) tile.bias += 2 * loops_.lanes;
        }
    }
}

int DirectMaps::taps_of(const Row& row, const DirectClass& across, Range columns, DirectTap* taps) const
{
    int count = 0;
    for (const DirectAxisTap& high : row.down.taps) {
        const int source_row = row.index * down_.advance + high.shift;
        if (source_row < 0 || source_row >= down_.source) continue;
        const auto from = static_cast<std::ptrdiff_t>(row.apart.row * size(source_row - row.first_row));
        for (const DirectAxisTap& wide : across.taps) {
            const int first = columns.begin * across_.advance + wide.shift;
            const int last = (columns.end - 1) * across_.advance + wide.shift;
            if (last < 0 || first >= across_.source) continue;
            const bool before = first < 0, beyond = last >= across_.source;
            taps[count++] = {
                from + frame_.place(columns.begin, wide.shift),
                static_cast<std::ptrdiff_t>(loops_.lanes) * loops_.lanes * (high.place * window_ + wide.place),
                before == beyond ? DirectEdge::none : (before ? DirectEdge::first : DirectEdge::last)};
        }
    }
    return count;
}

DirectTile DirectMaps::tile_of(const Row& row, const DirectClass& across, int column) const
{
    const Strip& strip = row.strip;
    const std::size_t lanes = size(loops_.lanes), result_row = size(across_.result) * lanes;
    const std::size_t result_block = result_row * size(down_.result), result_image = result_block * size(to_);
    const int first_output = 2 * strip.pairs.begin, blocks = strip.blocks.end - strip.blocks.begin;
    const float* turned = row.job.turned;
    return {.source = row.source,
            .source_block = row.apart.block,
            .source_image = row.apart.image,
            .weights = turned != nullptr
                           ? turned
                           : row.job.weights + weights_of_block() * size(first_output * from_ + strip.blocks.begin),
            .weights_block = weights_of_block(),
            .weights_result = weights_of_block() * size(turned != nullptr ? blocks : from_),
            .taps = nullptr,
            .tap_count = 0,
            .blocks = blocks,
            .result = row.job.result + result_image * size(strip.image) + result_block * size(first_output) +
                      result_row * size(row.down.first + row.index * down_.step) +
                      lanes * size(across.first + column * across_.step),
            .result_column = size(across_.step) * lanes,
            .result_block = result_block,
            .result_image = result_image,
            .bias = row.job.bias == nullptr ? nullptr : row.job.bias + size(first_output) * lanes,
            .add = strip.blocks.begin > 0,
            .relu = row.job.relu && strip.blocks.end == from_,
            .past_caches = chunk_ == from_ && result_image * size(batch_) > more_than_l3,
            .ahead = {}};
}

}  // namespace roof::kernels
