#include "workloads/onednn/loops/direct/weights_gradient.hpp"

#include "workloads/onednn/loops/direct/weights_gradient_pairs.hpp"
#include "workloads/onednn/loops/parallel.hpp"
#include "workloads/onednn/loops/winograd_isa.hpp"

namespace roof::onednn {
namespace {

constexpr int of_l1 = 84;             ///< pixels of a few blocks of channels, and as many to come
constexpr int of_l2_per_lane = 4096;  ///< numbers of the weights, others want their parts; L2s grew with the vectors
constexpr int enough_units = 8;       ///< of a thread

const WeightsGradientLoops& widest()
{
    return __builtin_cpu_supports("x86-64-v4") ? weights_gradient_avx512 : weights_gradient_avx2;
}

constexpr int pieces_of(int count, int most)
{
    return (count + most - 1) / most;
}

constexpr Range piece_of(const Range& whole, int most, int index)
{
    const Range piece = share_of(length(whole), index, pieces_of(length(whole), most));
    return {whole.begin + piece.begin, whole.begin + piece.end};
}

/// As many images as the loops see, and rows of pixels that no window joins are one.
DirectShape seen_by(const WeightsGradientLoops& loops, DirectShape shape)
{
    shape.batch = pieces_of(shape.batch, loops.images);
    if (shape.window != 1 || shape.stride != 1 || shape.padding != 0) return shape;
    shape.width *= shape.height;
    shape.height = 1;
    return shape;
}

}  // namespace

std::size_t direct_weights_scratch(const DirectShape& shape, int threads)
{
    return WeightsGradient(widest(), shape, threads).scratch();
}

void direct_backward_weights(const DirectShape& shape, const float* x, const float* dy, float* dw, float* db,
                             float* scratch, int threads)
{
    WeightsGradient(widest(), shape, threads).run(x, dy, dw, db, scratch);
}

bool has_direct_weights_bf16()
{
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16");
}

std::size_t direct_weights_scratch_bf16(const DirectShape& shape, int threads)
{
    return WeightsGradient(weights_gradient_bf16, shape, threads).scratch();
}

void direct_backward_weights(const DirectShape& shape, const BFloat16* x, const BFloat16* dy, float* dw, float* db,
                             float* scratch, int threads)
{
    WeightsGradient(weights_gradient_bf16, shape, threads).run(x, dy, dw, db, scratch);
}

GradientShape::GradientShape(const DirectShape& shape, int lanes)
    : of(shape),
      rows(shape.result_height()),
      columns(shape.result_width()),
      input_blocks(shape.inputs / lanes),
      output_blocks(shape.outputs / lanes),
      cell(shape.window * shape.window * lanes * lanes)
{
    const auto strides = [&](int channels, int height, int width) -> GradientStrides {
        const std::ptrdiff_t map = std::ptrdiff_t{height} * width;
        return {map * channels, map * lanes, std::ptrdiff_t{width} * lanes, lanes};
    };
    source = strides(shape.inputs, shape.height, shape.width);
    result = strides(shape.outputs, rows, columns);
}

WeightsGradient::WeightsGradient(const WeightsGradientLoops& loops, const DirectShape& shape, int threads)
    : loops_(loops), shape_(seen_by(loops, shape), loops.lanes), batch_(shape.batch), threads_(threads)
{
    const int rows = shape_.rows, columns = shape_.columns;
    piece_columns_ = std::min(columns, of_l1);
    piece_rows_ = std::clamp(of_l1 / columns, 1, rows);
    piece_images_ = std::clamp(of_l1 / (rows * columns), 1, shape_.of.batch);
    choose_region();
}

/// The larger and the more like a square, the fewer times maps are read.
void WeightsGradient::choose_region()
{
    int outputs = std::min(loops_.outputs, shape_.output_blocks), inputs = 1;
    do {
        region_outputs_ = outputs;
        region_inputs_ = inputs;
        const bool is_wide = outputs >= inputs || outputs == shape_.output_blocks;
        if (is_wide && inputs < shape_.input_blocks)
            inputs = std::min(2 * inputs, shape_.input_blocks);
        else
            outputs = std::min(2 * outputs, shape_.output_blocks);
    } while ((outputs > region_outputs_ || inputs > region_inputs_) &&
             cells(outputs * inputs) <= loops_.lanes * of_l2_per_lane &&
             regions(outputs, inputs) * pieces() >= enough_units * threads_);
}

int WeightsGradient::regions(int outputs, int inputs) const
{
    return pieces_of(shape_.output_blocks, outputs) * pieces_of(shape_.input_blocks, inputs);
}

int WeightsGradient::pieces() const
{
    return pieces_of(shape_.of.batch, piece_images_) * pieces_of(shape_.rows, piece_rows_) *
           pieces_of(shape_.columns, piece_columns_);
}

Range WeightsGradient::units(int thread, int threads) const
{
    return share_of(regions(region_outputs_, region_inputs_) * pieces(), thread, threads);
}

WeightsGradient::Region WeightsGradient::region(int unit) const
{
    const int index = unit / pieces(), across = pieces_of(shape_.input_blocks, region_inputs_);
    return {piece_of({0, shape_.output_blocks}, region_outputs_, index / across),
            piece_of({0, shape_.input_blocks}, region_inputs_, index % across)};
}

GradientPiece WeightsGradient::piece(int unit) const
{
    const int across = pieces_of(shape_.columns, piece_columns_), down = pieces_of(shape_.rows, piece_rows_);
    const int index = unit % pieces();
    return {.images = piece_of({0, shape_.of.batch}, piece_images_, index / (across * down)),
            .rows = piece_of({0, shape_.rows}, piece_rows_, index / across % down),
            .columns = piece_of({0, shape_.columns}, piece_columns_, index % across)};
}

GradientStep WeightsGradient::first_step(int unit) const
{
    const Region of = region(unit);
    return {piece(unit), piece_of(of.outputs, loops_.outputs, 0), of.inputs.begin};
}

std::size_t WeightsGradient::slot() const
{
    return winograd_apart(static_cast<std::size_t>(cells(region_outputs_ * region_inputs_)));
}

std::size_t WeightsGradient::bias_slot() const
{
    return winograd_apart(static_cast<std::size_t>(shape_.of.outputs));
}

/// At least as much as any piece and region need.
std::size_t WeightsGradient::x_slot() const
{
    if (loops_.images == 1) return 0;
    const DirectShape& of = shape_.of;
    const auto extent = [&](int results, int all) { return std::min(all, (results - 1) * of.stride + of.window); };
    const GradientWindow most{{0, piece_images_},
                              {0, region_inputs_},
                              {0, extent(piece_rows_, of.height)},
                              {0, extent(piece_columns_, of.width)}};
    return winograd_apart(most.numbers(loops_.lanes));
}

std::size_t WeightsGradient::dy_slot() const
{
    if (loops_.images == 1) return 0;
    const GradientWindow most{{0, piece_images_}, {0, region_outputs_}, {0, piece_rows_}, {0, piece_columns_}};
    return winograd_apart(most.numbers(loops_.lanes));
}

std::size_t WeightsGradient::scratch() const
{
    return (slot() + bias_slot() + x_slot() + dy_slot()) * static_cast<std::size_t>(threads_);
}

WeightsGradient::Scratch WeightsGradient::part(float* scratch, std::size_t thread) const
{
    const auto team = static_cast<std::size_t>(threads_);
    float* const biases = scratch + slot() * team;
    float* const sources = biases + bias_slot() * team;
    float* const results = sources + x_slot() * team;
    return {scratch + slot() * thread, biases + bias_slot() * thread, sources + x_slot() * thread,
            results + dy_slot() * thread};
}

GradientSums WeightsGradient::in_weights(const Region& region, float* dw) const
{
    const std::ptrdiff_t row = cells(shape_.input_blocks);
    return {.at = dw + region.outputs.begin * row + cells(region.inputs.begin), .block = row};
}

GradientSums WeightsGradient::in_slot(const Region& region, float* slot) const
{
    return {.at = slot, .block = cells(length(region.inputs))};
}

void WeightsGradient::add_products(const Region& of, const GradientStep& first, const View& view,
                                   const GradientSums& sums) const
{
    const int groups = pieces_of(length(of.outputs), loops_.outputs);
    GradientStep now = first;
    for (int group = 1; group <= groups; ++group) {
        float* const row = sums.at + (now.outputs.begin - of.outputs.begin) * sums.block;
        const GradientStep next_group =
            group == groups ? view.after
                            : GradientStep{now.piece, piece_of(of.outputs, loops_.outputs, group), of.inputs.begin};
        while (now.input < of.inputs.end) {
            GradientStep next = now;
            ++next.input;
            const GradientSums to{row + cells(now.input - of.inputs.begin), sums.block, sums.add};
            loops_.products(view.shape, now, next.input < of.inputs.end ? next : next_group, view.maps.x, view.maps.dy,
                            to);
            now = next;
        }
        now = next_group;
    }
}

WeightsGradient::View WeightsGradient::view(const Region& /*of*/, const GradientStep& /*first*/,
                                            const GradientStep& next, const Maps<float>& maps,
                                            const Scratch& /*scratch*/) const
{
    return {shape_, maps, next};
}

WeightsGradient::View WeightsGradient::view(const Region& of, const GradientStep& first, const GradientStep& /*next*/,
                                            const Maps<BFloat16>& maps, const Scratch& scratch) const
{
    View paired{shape_, {scratch.x, scratch.dy}, first};
    const GradientWindow source = source_window(shape_.of, first.piece, of.inputs);
    paired.shape.source = pair_images(maps.x, shape_.source, batch_, source, scratch.x);
    const GradientWindow result = result_window(first.piece, of.outputs);
    paired.shape.result = pair_images(maps.dy, shape_.result, batch_, result, scratch.dy);
    return paired;
}

template <class Element>
void WeightsGradient::run_units(Range mine, const Maps<Element>& maps, float* dw, const Scratch& scratch,
                                bool has_bias) const
{
    if (mine.begin == mine.end) return;
    GradientStep first = first_step(mine.begin);
    for (int unit = mine.begin; unit < mine.end; ++unit) {
        const Region now = region(unit);
        const int index = unit % pieces();
        const bool is_begun_here = unit - index >= mine.begin;
        GradientSums sums = is_begun_here ? in_weights(now, dw) : in_slot(now, scratch.slot);
        sums.add = index > 0 && unit > mine.begin;
        const GradientStep next = first_step(std::min(unit + 1, mine.end - 1));
        const View seen = view(now, first, next, maps, scratch);
        add_products(now, first, seen, sums);
        if (has_bias && now.inputs.begin == 0)
            loops_.bias(seen.shape, first.piece, now.outputs, seen.maps.dy, scratch.bias);
        first = next;
    }
}

/// To each number what the threads' slots hold of it, in the threads' order.
void WeightsGradient::add_slots(int thread, int threads, float* dw, const float* slots) const
{
    for (int other = 0; other < threads; ++other, slots += slot()) {
        const Range theirs = units(other, threads);
        if (theirs.begin == theirs.end || theirs.begin % pieces() == 0) continue;
        const Region shared = region(theirs.begin);
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

template <class Element>
void WeightsGradient::run(const Element* x, const Element* dy, float* dw, float* db, float* scratch) const
{
    const auto team = static_cast<std::size_t>(threads_);
    float* const bias = part(scratch, 0).bias;
    std::fill_n(bias, bias_slot() * team, 0.0F);
#pragma omp parallel num_threads(threads_)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const Scratch own = part(scratch, static_cast<std::size_t>(thread));
        run_units(units(thread, threads), Maps<Element>{x, dy}, dw, own, db != nullptr);
#pragma omp barrier
        add_slots(thread, threads, dw, scratch);
    }
    for (int o = 0; db != nullptr && o < shape_.of.outputs; ++o) {
        db[o] = 0;
        for (std::size_t thread = 0; thread < team; ++thread)
            db[o] += bias[bias_slot() * thread + static_cast<std::size_t>(o)];
    }
}

template void WeightsGradient::run(const float*, const float*, float*, float*, float*) const;
template void WeightsGradient::run(const BFloat16*, const BFloat16*, float*, float*, float*) const;

}  // namespace roof::onednn
