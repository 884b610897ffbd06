// The weights' gradient of a direct convolution, shared among threads, in the layouts of convolution.hpp.
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/gradient_plan.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/pieces.hpp"

namespace roof::kernels {
namespace {

/// The source numbers along one axis that these results need.
Range needed(const Range& results, const model::Convolution& shape, int extent)
{
    const int begin = results.begin * shape.window.stride - shape.window.padding;
    const int end = (results.end - 1) * shape.window.stride - shape.window.padding + shape.window.size;
    return common({begin, end}, {0, extent});
}

/// Scratch holds the sums of weight regions that threads share, until all are done, and packed pixels of bf16 maps.
/// Channel counts must be multiples of the lanes. Results are bitwise reproducible for equal numbers of threads.
class DirectGradient {
  public:
    DirectGradient(const DirectLoops& loops, const ConvolutionPass& of, int threads)
        : loops_(loops),
          is_packed_(of.precision == Precision::bf16),
          plan_(loops, of, is_packed_, threads),
          batch_(of.batch),
          threads_(threads)
    {
        if (!is_packed_) return;
        const GradientPiece piece = plan_.largest_piece();
        const model::Convolution& seen = shape().of;
        const auto most = [&](const Range& results, int extent) -> Range {
            return {0, std::min(extent, (results.end - 1) * seen.window.stride + seen.window.size)};
        };
        x_slot_ = packed({piece.images, plan_.largest_region().inputs, most(piece.rows, seen.source.height),
                          most(piece.columns, seen.source.width)});
        dy_slot_ = packed(result_window(piece, plan_.largest_region().outputs));
    }

    /// Scratch size in numbers; the memory must be aligned to a cache line.
    std::size_t scratch() const
    {
        return (slot() + bias_slot() + x_slot_ + dy_slot_) * static_cast<std::size_t>(threads_);
    }

    std::vector<Refetch> refetched() const { return plan_.refetched(threads_); }

    /// If the loops read pairs, the last image of an odd batch is paired with zeros.
    void run(const ConvolutionOperands& of) const;

  private:
    struct Maps {
        Elements x, dy;
    };
    /// One thread's part of the scratch memory.
    struct Scratch {
        float* slot;
        float* bias;
        float* x;
        float* dy;
    };
    /// The part of a map that a unit reads: images as the loops count them, channel blocks and pixels.
    struct Window {
        Range images, blocks, rows, columns;

        int rows_of_all() const { return length(images) * length(blocks) * length(rows); }
    };
    /// A row of a window, in two images if the loops read pairs. `second`: null if there is none.
    struct Pixels {
        const BFloat16* first;
        const BFloat16* second;
    };
    /// The maps that the loops read in a unit, and the fetches during its last step.
    struct View {
        GradientShape shape;
        const float* x;
        const float* dy;
        GradientStep after;
    };

    const GradientShape& shape() const { return plan_.shape(); }
    std::ptrdiff_t cells(int blocks) const { return std::ptrdiff_t{blocks} * shape().cell; }
    std::size_t slot() const
    {
        const GradientRegion largest = plan_.largest_region();
        return odd_lines(static_cast<std::size_t>(cells(length(largest.outputs) * length(largest.inputs))));
    }

    std::size_t bias_slot() const { return odd_lines(static_cast<std::size_t>(shape().of.result.channels)); }

    std::size_t packed(const Window& window) const
    {
        return odd_lines(static_cast<std::size_t>(window.rows_of_all()) *
                         static_cast<std::size_t>(length(window.columns) * loops_.lanes));
    }

    Window source_window(const GradientPiece& piece, const Range& blocks) const
    {
        const model::Convolution& of = shape().of;
        return {piece.images, blocks, needed(piece.rows, of, of.source.height),
                needed(piece.columns, of, of.source.width)};
    }

    Window result_window(const GradientPiece& piece, const Range& blocks) const
    {
        return {piece.images, blocks, piece.rows, piece.columns};
    }

    Scratch part(float* scratch, std::size_t thread) const
    {
        const auto team = static_cast<std::size_t>(threads_);
        float* const biases = scratch + slot() * team;
        float* const sources = biases + bias_slot() * team;
        float* const results = sources + x_slot_ * team;
        return {scratch + slot() * thread, biases + bias_slot() * thread, sources + x_slot_ * thread,
                results + dy_slot_ * thread};
    }

    GradientSums in_weights(const GradientRegion& region, float* dw) const
    {
        const std::ptrdiff_t row = cells(shape().input_blocks);
        return {.at = dw + region.outputs.begin * row + cells(region.inputs.begin), .block = row};
    }

    GradientSums in_slot(const GradientRegion& region, float* slot) const
    {
        return {.at = slot, .block = cells(length(region.inputs))};
    }

    Pixels row_of(const Elements& map, const GradientStrides& strides, const Window& window, int index) const
    {
        const int rows = length(window.rows), blocks = length(window.blocks);
        const int image = loops_.numbers * (window.images.begin + index / (rows * blocks));
        const BFloat16* first = map.as<BFloat16>() + strides.at(image, window.blocks.begin + index / rows % blocks,
                                                                window.rows.begin + index % rows, window.columns.begin);
        return {first, loops_.numbers > 1 && image + 1 < batch_ ? first + strides.image : nullptr};
    }

    /// Packs the window and returns its strides in `to`.
    GradientStrides pack(const Elements& map, const GradientStrides& strides, const Window& window, float* to) const
    {
        GradientStrides packed{.column = strides.column};
        packed.row = length(window.columns) * packed.column;
        packed.block = length(window.rows) * packed.row;
        packed.image = length(window.blocks) * packed.block;
        packed.start = -packed.at(window.images.begin, window.blocks.begin, window.rows.begin, window.columns.begin);
        for (int index = 0; index < window.rows_of_all(); ++index, to += packed.row) {
            const Pixels row = row_of(map, strides, window, index);
            loops_.pack(row.first, row.second, length(window.columns), to);
        }
        return packed;
    }

    /// Fetches into the L2 part `part` of `parts` of what pack() will read.
    void fetch(const Elements& map, const GradientStrides& strides, const Window& window, int part, int parts) const
    {
        constexpr int line = 32;  // numbers
        const Range mine = share_of(window.rows_of_all(), part, parts);
        const std::ptrdiff_t numbers = length(window.columns) * strides.column;
        for (int index = mine.begin; index < mine.end; ++index) {
            const Pixels row = row_of(map, strides, window, index);
            for (std::ptrdiff_t at = 0; at < numbers; at += line) {
                __builtin_prefetch(row.first + at, 0, 2);
                if (row.second != nullptr) __builtin_prefetch(row.second + at, 0, 2);
            }
        }
    }

    View view(const GradientRegion& of, const GradientStep& first, const GradientStep& next, const Maps& maps,
              const Scratch& scratch) const
    {
        if (!is_packed_) return {shape(), maps.x.as<float>(), maps.dy.as<float>(), next};
        View view{shape(), scratch.x, scratch.dy, first};
        view.shape.source = pack(maps.x, shape().source, source_window(first.piece, of.inputs), scratch.x);
        view.shape.result = pack(maps.dy, shape().result, result_window(first.piece, of.outputs), scratch.dy);
        return view;
    }

    /// Computes each group of output blocks with each input block. Calls fetch_next(part, parts) before each product.
    template <class Fetch>
    void add_products(const GradientRegion& of, const GradientStep& first, const View& view, const GradientSums& sums,
                      const Fetch& fetch_next) const
    {
        const int groups = plan_.groups(of);
        int part = 0;
        GradientStep now = first;
        for (int group = 1; group <= groups; ++group) {
            float* const row = sums.at + (now.outputs.begin - of.outputs.begin) * sums.block;
            const GradientStep next_group =
                group == groups ? view.after : GradientStep{now.piece, plan_.group(of, group), of.inputs.begin};
            while (now.input < of.inputs.end) {
                fetch_next(part++, groups * length(of.inputs));
                GradientStep next = now;
                ++next.input;
                const GradientSums to{row + cells(now.input - of.inputs.begin), sums.block, sums.add};
                loops_.products(view.shape, now, next.input < of.inputs.end ? next : next_group, view.x, view.dy, to);
                now = next;
            }
            now = next_group;
        }
    }

    void run_units(Range mine, const Maps& maps, float* dw, const Scratch& scratch, bool has_bias) const
    {
        if (mine.begin == mine.end) return;
        GradientStep first = plan_.first_step(mine.begin);
        for (int unit = mine.begin; unit < mine.end; ++unit) {
            const GradientRegion now = plan_.region(unit);
            const int index = unit % plan_.pieces();
            const bool is_begun_here = unit - index >= mine.begin;
            GradientSums sums = is_begun_here ? in_weights(now, dw) : in_slot(now, scratch.slot);
            sums.add = index > 0 && unit > mine.begin;
            const int next_unit = std::min(unit + 1, mine.end - 1);
            const GradientStep next = plan_.first_step(next_unit);
            const View seen = view(now, first, next, maps, scratch);
            add_products(now, first, seen, sums, [&](int part, int parts) {
                if (!is_packed_) return;
                const GradientRegion of = plan_.region(next_unit);
                fetch(maps.x, shape().source, source_window(next.piece, of.inputs), part, parts);
                fetch(maps.dy, shape().result, result_window(next.piece, of.outputs), part, parts);
            });
            if (has_bias && now.inputs.begin == 0)
                loops_.bias(seen.shape, first.piece, now.outputs, seen.dy, scratch.bias);
            first = next;
        }
    }

    /// Adds the threads' slots to each number, in thread order.
    void add_slots(int thread, int threads, float* dw, const float* slots) const
    {
        for (int other = 0; other < threads; ++other, slots += slot()) {
            const Range theirs = plan_.units(other, threads);
            if (theirs.begin == theirs.end || theirs.begin % plan_.pieces() == 0) continue;
            const GradientRegion shared = plan_.region(theirs.begin);
            const GradientSums to = in_weights(shared, dw);
            const auto row = static_cast<int>(cells(length(shared.inputs)));
            const Range mine = share_of(row, thread, threads);
            for (int output = 0; output < length(shared.outputs); ++output) {
                float* sums = to.at + output * to.block;
                const float* parts = slots + std::ptrdiff_t{output} * row;
                for (int i = mine.begin; i < mine.end; ++i) sums[i] += parts[i];
            }
        }
    }

    const DirectLoops& loops_;
    bool is_packed_;  ///< bf16 maps
    GradientPlan plan_;
    int batch_;  ///< images; the plan's shape counts pairs if the loops read pairs
    int threads_;
    std::size_t x_slot_ = 0, dy_slot_ = 0;  ///< packed words per thread, an upper bound for all units
};

void DirectGradient::run(const ConvolutionOperands& of) const
{
    float* const db = of.bias;
    const auto team = static_cast<std::size_t>(threads_);
    float* const bias = part(of.workspace, 0).bias;
    std::fill_n(bias, bias_slot() * team, 0.0F);
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Scratch own = part(of.workspace, static_cast<std::size_t>(thread));
        run_units(plan_.units(thread, threads), Maps{of.source, of.result}, of.weights, own, db != nullptr);
#pragma omp barrier
        add_slots(thread, threads, of.weights, of.workspace);
    }
    for (int o = 0; db != nullptr && o < shape().of.result.channels; ++o) {
        db[o] = 0;
        for (std::size_t thread = 0; thread < team; ++thread)
            db[o] += bias[bias_slot() * thread + static_cast<std::size_t>(o)];
    }
}

}  // namespace

GradientShape::GradientShape(const model::Convolution& shape, int lanes)
    : of(shape),
      rows(shape.result.height),
      columns(shape.result.width),
      input_blocks(shape.source.channels / lanes),
      output_blocks(shape.result.channels / lanes),
      cell(shape.window.size * shape.window.size * lanes * lanes)
{
    const auto strides = [&](int channels, int height, int width) -> GradientStrides {
        const std::ptrdiff_t map = std::ptrdiff_t{height} * width;
        return {map * channels, map * lanes, std::ptrdiff_t{width} * lanes, lanes};
    };
    source = strides(shape.source.channels, shape.source.height, shape.source.width);
    result = strides(shape.result.channels, rows, columns);
}

ConvolutionPlan plan_direct_gradient(const DirectLoops& loops, const ConvolutionPass& pass, int threads)
{
    return plan_of(loops.name, DirectGradient(loops, pass, threads));
}

}  // namespace roof::kernels
