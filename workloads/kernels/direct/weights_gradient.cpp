#include "workloads/kernels/direct/weights_gradient.hpp"

#include "workloads/kernels/direct/weights_gradient_pairs.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/pieces.hpp"

namespace roof::kernels {

WeightsGradient::WeightsGradient(const WeightsGradientLoops& loops, const ConvolutionShape& shape, int threads)
    : loops_(loops), plan_(loops, shape, threads), batch_(shape.batch), threads_(threads)
{
}

std::size_t WeightsGradient::slot() const
{
    const GradientRegion largest = plan_.largest_region();
    return odd_lines(static_cast<std::size_t>(cells(length(largest.outputs) * length(largest.inputs))));
}

std::size_t WeightsGradient::bias_slot() const
{
    return odd_lines(static_cast<std::size_t>(shape().of.outputs));
}

/// An upper bound for every piece and region.
std::size_t WeightsGradient::x_slot() const
{
    if (loops_.images == 1) return 0;
    const ConvolutionShape& of = shape().of;
    const GradientPiece piece = plan_.largest_piece();
    const auto extent = [&](const Range& results, int all) -> Range {
        return {0, std::min(all, (results.end - 1) * of.stride + of.window)};
    };
    const GradientWindow most{piece.images, plan_.largest_region().inputs, extent(piece.rows, of.height),
                              extent(piece.columns, of.width)};
    return odd_lines(most.numbers(loops_.lanes));
}

std::size_t WeightsGradient::dy_slot() const
{
    if (loops_.images == 1) return 0;
    return odd_lines(result_window(plan_.largest_piece(), plan_.largest_region().outputs).numbers(loops_.lanes));
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

GradientSums WeightsGradient::in_weights(const GradientRegion& region, float* dw) const
{
    const std::ptrdiff_t row = cells(shape().input_blocks);
    return {.at = dw + region.outputs.begin * row + cells(region.inputs.begin), .block = row};
}

GradientSums WeightsGradient::in_slot(const GradientRegion& region, float* slot) const
{
    return {.at = slot, .block = cells(length(region.inputs))};
}

template <class Fetch>
void WeightsGradient::add_products(const GradientRegion& of, const GradientStep& first, const View& view,
                                   const GradientSums& sums, const Fetch& fetch) const
{
    const int groups = plan_.groups(of);
    int part = 0;
    GradientStep now = first;
    for (int group = 1; group <= groups; ++group) {
        float* const row = sums.at + (now.outputs.begin - of.outputs.begin) * sums.block;
        const GradientStep next_group =
            group == groups ? view.after : GradientStep{now.piece, plan_.group(of, group), of.inputs.begin};
        while (now.input < of.inputs.end) {
            fetch(part++, groups * length(of.inputs));
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

WeightsGradient::View WeightsGradient::view(const GradientRegion& /*of*/, const GradientStep& /*first*/,
                                            const GradientStep& next, const Maps<float>& maps,
                                            const Scratch& /*scratch*/) const
{
    return {shape(), maps, next};
}

WeightsGradient::View WeightsGradient::view(const GradientRegion& of, const GradientStep& first,
                                            const GradientStep& /*next*/, const Maps<BFloat16>& maps,
                                            const Scratch& scratch) const
{
    View paired{shape(), {scratch.x, scratch.dy}, first};
    const GradientWindow source = source_window(shape().of, first.piece, of.inputs);
    paired.shape.source = pair_images(maps.x, shape().source, batch_, source, scratch.x);
    const GradientWindow result = result_window(first.piece, of.outputs);
    paired.shape.result = pair_images(maps.dy, shape().result, batch_, result, scratch.dy);
    return paired;
}

void WeightsGradient::fetch(int unit, const GradientStep& first, const Maps<BFloat16>& maps, int part, int parts) const
{
    const GradientRegion of = plan_.region(unit);
    fetch_images(maps.x, shape().source, batch_, source_window(shape().of, first.piece, of.inputs), part, parts);
    fetch_images(maps.dy, shape().result, batch_, result_window(first.piece, of.outputs), part, parts);
}

template <class Element>
void WeightsGradient::run_units(Range mine, const Maps<Element>& maps, float* dw, const Scratch& scratch,
                                bool has_bias) const
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
        add_products(now, first, seen, sums, [&](int part, int parts) { fetch(next_unit, next, maps, part, parts); });
        if (has_bias && now.inputs.begin == 0)
            loops_.bias(seen.shape, first.piece, now.outputs, seen.maps.dy, scratch.bias);
        first = next;
    }
}

/// Adds the threads' slots to each number, in thread order.
void WeightsGradient::add_slots(int thread, int threads, float* dw, const float* slots) const
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
        run_units(plan_.units(thread, threads), Maps<Element>{x, dy}, dw, own, db != nullptr);
#pragma omp barrier
        add_slots(thread, threads, dw, scratch);
    }
    for (int o = 0; db != nullptr && o < shape().of.outputs; ++o) {
        db[o] = 0;
        for (std::size_t thread = 0; thread < team; ++thread)
            db[o] += bias[bias_slot() * thread + static_cast<std::size_t>(o)];
    }
}

template void WeightsGradient::run(const float*, const float*, float*, float*, float*) const;
template void WeightsGradient::run(const BFloat16*, const BFloat16*, float*, float*, float*) const;

}  // namespace roof::kernels
