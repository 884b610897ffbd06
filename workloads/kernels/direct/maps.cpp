// The forward and backward_data passes, shared among threads. Work is rows of results times groups of output channels;
// a group's weights fit the L2. Each thread takes a contiguous range and computes it group by group, in strips of rows
// whose source also fits the L2. The weights of a group are first transposed for the backward pass and paired for the
// dot product. While a strip is computed, the source of the next one is fetched.
//
// Tiles can skip one column of padding on either side and then read the map itself. With wider padding they read a
// frame: a copy of a strip's rows with columns of zeros on both sides. bf16 is widened in the frame; under a window of
// 1, where tiles share no source, tile by tile, so that it stays in the L1; or, if many groups read it, once for all of
// them.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/maps_plan.hpp"
#include "workloads/kernels/parallel.hpp"

#include <array>
#include <cstring>

namespace roof::kernels {
namespace {

constexpr std::size_t more_than_l3 = 16 << 20;  ///< bytes; a cache keeps few of them until they are read
constexpr std::size_t line = 64;                ///< bytes

class DirectMaps : public DirectMapsPlan {
  public:
    using DirectMapsPlan::DirectMapsPlan;

    void run(const ConvolutionOperands& of) const;

  private:
    struct Job {
        Elements source;
        const float* weights;
        const float* turned;  ///< weights of the current group; null: `weights` are used directly
        const float* bias;
        Elements result;
    };

    /// Rows of results of one image or two, for a group of outputs.
    struct Strip {
        Range units, pairs, rows;
        int image, images;
    };

    /// One row of a strip, in one class.
    struct Row {
        const Job& job;
        const Strip& strip;
        const DirectClass& down;
        int index;
        const float* source;  ///< source that the tiles read
        float* widened;       ///< of a tile
        int first_row;        ///< first row of the map at `source`
        Distances apart;
        DirectAhead ahead;
    };

    Strip strip_at(int unit, int end) const
    {
        const int rows = down_.most(), row = unit % rows;
        const int group = unit / units_of_group(), image = unit / rows % image_units() * images_;
        end = std::min({end, unit - row + rows, unit + rows_});
        return {.units = {unit, end},
                .pairs = {group * pairs_, std::min(to_ / 2, (group + 1) * pairs_)},
                .rows = {row, row + end - unit},
                .image = image,
                .images = std::min(images_, batch_ - image)};
    }

    int tiles_in(const Strip& strip) const
    {
        int tiles = 0;
        const int most = loops_.pixels / strip.images;
        for (const DirectClass& down : down_.classes) {
            if (down.taps.empty()) continue;
            const Range rows = common(strip.rows, {0, down.count});
            for (const DirectClass& across : across_.classes)
                tiles += length(rows) * ((across.count + most - 1) / most);
        }
        return tiles * length(strip.pairs);
    }

    /// Returns the part of the next strip's source that each tile of this strip fetches.
    DirectAhead ahead_of(const Job& job, const Strip& strip, const Strip& next) const
    {
        const int first = next.rows.begin * down_.advance + down_.low;
        const Range rows = common({0, down_.source}, {first, first + down_.span(length(next.rows))});
        const Distances apart = in_map(bytes_);
        const auto lines = static_cast<int>(apart.row * size(length(rows)) / line);
        return {static_cast<const char*>(job.source.at) + apart.image * size(next.image) + apart.row * size(rows.begin),
                apart.block, apart.image, lines / tiles_in(strip) + 1};
    }

    void work_off(Job job, Range mine, float* scratch) const
    {
        int pair = -1;  // of the turned weights
        for (Strip strip = strip_at(mine.begin, mine.end); strip.units.begin < mine.end;) {
            if (turned() > 0 && strip.pairs.begin != pair) {
                pair = strip.pairs.begin;
                turn(job, strip, scratch);
                job.turned = scratch;
            }
            const bool is_last = strip.units.end == mine.end;
            const Strip next = is_last ? strip : strip_at(strip.units.end, mine.end);
            compute(job, strip, next, scratch + turned());
            if (is_last) return;
            strip = next;
        }
    }

    void turn(const Job& job, const Strip& strip, float* turned) const
    {
        const int taps = window_ * window_;
        const std::size_t column = lanes_ * lanes_ * size(taps);  // from one block of inputs to the next
        const std::size_t row = column * size(is_forward_ ? from_ : to_);
        loops_.turn({.weights = job.weights,
                     .result_block = is_forward_ ? row : column,
                     .source_block = is_forward_ ? column : row,
                     .taps = taps,
                     .results = {2 * strip.pairs.begin, 2 * strip.pairs.end},
                     .sources = {0, from_},
                     .transposed = !is_forward_},
                    turned);
    }

    /// Copies the strip's source to the frame, widened where the loops need it.
    void fill(const Job& job, const Strip& strip, float* frame) const
    {
        const Distances map = in_map(lanes_), apart = in_frame(down_.span(rows_));
        const int first = strip.rows.begin * down_.advance + down_.low;
        const Range rows = common({0, down_.source}, {first, first + down_.span(length(strip.rows))});
        const std::size_t before = depth_ * size(left_), inside = depth_ * size(across_.source);
        const bool is_widened = bytes_ < depth_ * sizeof(float);
        for (int plane = 0; plane < strip.images * from_; ++plane) {
            for (int row = rows.begin; row < rows.end; ++row) {
                if ((row - first) % down_.advance > down_.high - down_.low) continue;  // no tap reads it
                const std::size_t from = map.block * size(strip.image * from_ + plane) + map.row * size(row);
                float* const to = frame + apart.block * size(plane) + apart.row * size(row - first);
                std::fill_n(to, before, 0.0F);
                std::fill_n(to + before + inside, depth_ * size(right_), 0.0F);
                if (is_widened)
                    loops_.pack(job.source.as<BFloat16>() + from, nullptr, across_.source, to + before);
                else
                    std::memcpy(to + before, static_cast<const char*>(job.source.at) + from / lanes_ * bytes_,
                                inside * sizeof(float));
            }
        }
    }

    void widen(const Elements& source, Range planes, float* to) const
    {
        const std::size_t plane = in_map(lanes_).block, first = plane * size(planes.begin);
        loops_.pack(source.as<BFloat16>() + first, nullptr, length(planes) * across_.source * down_.source, to + first);
    }

    /// Makes the tile read a widened copy of its source.
    void widen_tile(const Row& row, Range columns, DirectTap& tap, DirectTile& tile) const
    {
        const Distances map = in_map(lanes_);
        const int advance = across_.advance, at_once = advance == 1 ? length(columns) : 1;
        const BFloat16* const source = row.job.source.as<BFloat16>() + map.image * size(row.strip.image) +
                                       map.row * size(row.index * down_.advance) +
                                       lanes_ * size(columns.begin * advance);
        tap.source = 0;
        tile.source = row.widened;
        tile.source_block = depth_ * size(loops_.pixels);
        tile.source_image = depth_ * size(loops_.pixels / 2);
        for (int block = 0; block < from_; ++block)
            for (int image = 0; image < row.strip.images; ++image) {
                const BFloat16* const from = source + map.block * size(block) + map.image * size(image);
                float* const to = row.widened + tile.source_block * size(block) + tile.source_image * size(image);
                for (int i = 0; i < length(columns); i += at_once)
                    loops_.pack(from + lanes_ * size(i * advance), nullptr, at_once, to + depth_ * size(i));
            }
    }

    void compute(const Job& job, const Strip& strip, const Strip& next, float* frame) const
    {
        if (is_framed_) fill(job, strip, frame);
        const Distances map = in_map(depth_);
        DirectAhead ahead = ahead_of(job, strip, next);
        for (int index = strip.rows.begin; index < strip.rows.end; ++index) {
            for (const DirectClass& down : down_.classes) {
                if (index >= down.count) continue;
                if (down.taps.empty()) {
                    clear_row(job, strip, down.first + index * down_.step);
                    continue;
                }
                Row row{job,
                        strip,
                        down,
                        index,
                        is_framed_ ? frame : static_cast<const float*>(job.source.at) + map.image * size(strip.image),
                        frame,
                        is_framed_ ? strip.rows.begin * down_.advance + down_.low : 0,
                        is_framed_ ? in_frame(down_.span(rows_)) : map,
                        ahead};
                for (const DirectClass& across : across_.classes) compute(row, across);
                ahead = row.ahead;
            }
        }
    }

    /// Clears results that no window of the forward pass touched.
    void clear_row(const Job& job, const Strip& strip, int row) const
    {
        const std::size_t bytes = bytes_of_result() * size(across_.result);
        for (int image = strip.image; image < strip.image + strip.images; ++image) {
            for (int block = 2 * strip.pairs.begin; block < 2 * strip.pairs.end; ++block)
                std::memset(
                    static_cast<char*>(job.result.at) + bytes * size((image * to_ + block) * down_.result + row), 0,
                    bytes);
        }
    }

    void compute(Row& row, const DirectClass& across) const
    {
        std::array<DirectTap, std::size_t{direct_largest_window} * direct_largest_window> taps;
        const Strip& strip = row.strip;
        for (int column = 0, next = 0; column < across.count; column += next) {
            next = even_piece(across.count - column, loops_.pixels / strip.images);
            DirectTile tile = tile_of(row, across, column);
            tile.taps = taps.data();
            tile.tap_count = taps_of(row, across, {column, column + next}, taps.data());
            if (is_widened_by_tile_ && tile.tap_count > 0) widen_tile(row, {column, column + next}, taps.front(), tile);
            for (int pair = strip.pairs.begin; pair < strip.pairs.end; ++pair) {
                tile.ahead = row.ahead;
                loops_.tile(tile, strip.images, next, is_widened_by_tile_ ? 1 : across_.advance);
                row.ahead.from += size(row.ahead.lines) * line;
                tile.weights += 2 * tile.weights_result;
                tile.first_result += 2 * tile.result_block;
                if (tile.bias != nullptr) tile.bias += 2 * lanes_;
            }
        }
    }

    /// Writes the taps of these results and returns their number.
    int taps_of(const Row& row, const DirectClass& across, Range columns, DirectTap* taps) const
    {
        int count = 0;
        for (const DirectAxisTap& high : row.down.taps) {
            const int source_row = row.index * down_.advance + high.shift;
            if (source_row < 0 || source_row >= down_.source) continue;
            const std::size_t from = row.apart.row * size(source_row - row.first_row);
            for (const DirectAxisTap& wide : across.taps) {
                const int first = columns.begin * across_.advance + wide.shift;
                const int last = (columns.end - 1) * across_.advance + wide.shift;
                if (last < 0 || first >= across_.source) continue;
                const bool before = first < 0, beyond = last >= across_.source;
                const auto column = static_cast<std::ptrdiff_t>(depth_) * (first + (is_framed_ ? left_ : 0));
                taps[count++] = {static_cast<std::ptrdiff_t>(from) + column,
                                 static_cast<std::ptrdiff_t>(lanes_ * depth_) * (high.place * window_ + wide.place),
                                 before == beyond ? DirectEdge::none : (before ? DirectEdge::first : DirectEdge::last)};
            }
        }
        return count;
    }

    /// The fields that all pairs of outputs of these results share.
    DirectTile tile_of(const Row& row, const DirectClass& across, int column) const
    {
        const Strip& strip = row.strip;
        const std::size_t result_row = size(across_.result) * lanes_;
        const std::size_t result_block = result_row * size(down_.result), result_image = result_block * size(to_);
        const std::size_t first_output = 2 * size(strip.pairs.begin), of_output = weights_of_block() * size(from_);
        // Lines that are written in two halves must not pass the caches.
        const bool has_whole_lines = across_.step == 1 || shape_.precision == Precision::fp32;
        return {
            .source = row.source,
            .source_block = row.apart.block,
            .source_image = row.apart.image,
            .weights = row.job.turned != nullptr ? row.job.turned : row.job.weights + of_output * first_output,
            .weights_block = weights_of_block(),
            .weights_result = of_output,
            .taps = nullptr,
            .tap_count = 0,
            .blocks = from_,
            .result = row.job.result,
            .first_result = result_image * size(strip.image) + result_block * first_output +
                            result_row * size(row.down.first + row.index * down_.step) +
                            lanes_ * size(across.first + column * across_.step),
            .result_column = size(across_.step) * lanes_,
            .result_block = result_block,
            .result_image = result_image,
            .bias = row.job.bias == nullptr ? nullptr : row.job.bias + first_output * lanes_,
            .relu = shape_.relu && is_forward_,
            .past_caches = has_whole_lines && result_image / lanes_ * bytes_of_result() * size(batch_) > more_than_l3,
            .ahead = {}};
    }
};

void DirectMaps::run(const ConvolutionOperands& of) const
{
    const Elements& source = is_forward_ ? of.source : of.result;
    const Elements read = is_widened_first_ ? Elements{of.workspace, Precision::fp32} : source;
    const Job job{read, of.weights, nullptr, is_forward_ ? of.bias : nullptr, is_forward_ ? of.result : of.source};
    float* const of_threads = of.workspace + widened();
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        if (is_widened_first_) {
            widen(source, share_of(batch_ * from_, thread, threads), of.workspace);
#pragma omp barrier
        }
        work_off(job, share_of(groups_ * units_of_group(), thread, threads),
                 of_threads + (turned() + frame()) * size(thread));
    }
}

}  // namespace

ConvolutionPlan plan_direct_maps(const DirectLoops& loops, const ConvolutionPass& pass, int threads)
{
    return plan_of(loops.name, DirectMaps(loops, pass, threads));
}

}  // namespace roof::kernels
