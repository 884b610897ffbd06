// With n values per channel and all sums in double:
//   m = sum of x / n;  v = sum of x^2 / n - m^2;  y = g * (x - m) / sqrt(v + eps) + b
//   db = sum of dy;  dg = sum of dy * (x - m) / sqrt(v + eps)
//   dx = g / sqrt(v + eps) * (dy - db / n - (x - m) * sum of dy * (x - m) / (n * (v + eps)))
// fp32 numbers are summed as differences from one value of the channel, to avoid cancellation.
#include "workloads/onednn/operations/batch_norm_passes.hpp"

#include "workloads/engine/recipe.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace roof::onednn {
namespace {

constexpr std::size_t most_norms = 2;

/// Two sums per channel of a group and norm: all first sums, then all second sums.
using GroupSums = std::array<double, most_norms * 2 * most_together>;

double* sums_of_norm(double* group, const ChannelMap& map, std::size_t norm)
{
    return group + norm * 2 * static_cast<std::size_t>(map.together);
}

/// Number of image slices per group in the first pass, so that no thread is idle. 1: each thread takes whole groups.
Dim slices_of(const ChannelMap& map)
{
    constexpr Dim enough = 4;
    const Dim threads = omp_get_max_threads();
    if (map.groups() % threads == 0 || map.groups() >= enough * threads) return 1;
    return std::min(map.images, (enough * threads + map.groups() - 1) / map.groups());
}

struct Images {
    Dim begin = 0;
    Dim end = 0;
};

/// Runs a pass with whole groups per thread. It calls pass.sum(group, images, sums), pass.finish(group, own sums, sums
/// of all ranks) and pass.apply(group, image).
template <class Pass>
void by_group(const ChannelMap& map, const Pass& pass)
{
#pragma omp parallel for schedule(static)
    for (Dim group = 0; group < map.groups(); ++group) {
        GroupSums sums{};
        pass.sum(group, {0, map.images}, sums.data());
        pass.finish(group, sums.data(), sums.data());
        for (Dim n = 0; n < map.images; ++n) pass.apply(group, n);
    }
}

/// Returns the sums of each group. The memory is valid until the next call in this thread.
template <class Pass>
std::span<double> sum_by_slice(const ChannelMap& map, Dim stride, const Pass& pass)
{
    const Dim slices = slices_of(map);
    const Dim of_slice = map.groups() * stride;
    static thread_local std::vector<double> room;
    room.assign(static_cast<std::size_t>(of_slice * slices), 0);
    double* const sums = room.data();  // the calling thread's
#pragma omp parallel for schedule(static)
    for (Dim task = 0; task < map.groups() * slices; ++task) {
        const Dim slice = task / map.groups();
        const Images images{map.images * slice / slices, map.images * (slice + 1) / slices};
        if (images.begin < images.end) pass.sum(task % map.groups(), images, sums + task * stride);
    }
    for (Dim place = of_slice; place < of_slice * slices; ++place) sums[place % of_slice] += sums[place];
    return {sums, static_cast<std::size_t>(of_slice)};
}

/// The same as by_group() in two phases, for groups that threads share or channels that ranks share.
template <class Pass>
void by_slice(const ChannelMap& map, std::size_t norms, parallel::Communicator* ranks, const Pass& pass)
{
    const Dim stride = static_cast<Dim>(norms) * 2 * map.together;
    const std::span<double> own = sum_by_slice(map, stride, pass);
    std::vector<double> of_all;
    if (ranks != nullptr) {
        of_all.assign(own.begin(), own.end());
        ranks->sum(of_all);
    }
    double* const all = ranks != nullptr ? of_all.data() : own.data();
    for (Dim group = 0; group < map.groups(); ++group)
        pass.finish(group, own.data() + group * stride, all + group * stride);
#pragma omp parallel for collapse(2) schedule(static)
    for (Dim group = 0; group < map.groups(); ++group) {
        for (Dim n = 0; n < map.images; ++n) pass.apply(group, n);
    }
}

template <class Pass>
void in_two_passes(const std::vector<Norm>& norms, const Pass& pass)
{
    const Norm& first = norms.front();
    if (first.ranks == nullptr && slices_of(first.map) == 1)
        by_group(first.map, pass);
    else
        by_slice(first.map, norms.size(), first.ranks.get(), pass);
}

/// A norm with its addresses, resolved once per run instead of at each strip.
struct PlacedNorm {
    explicit PlacedNorm(const Norm& of)
        : norm(of),
          x(of.source.elements()),
          rows(of.factors.data()),
          scale(of.scale.value.data()),
          shift(of.shift.value.data()),
          scale_gradient(of.scale.gradient.data()),
          shift_gradient(of.shift.gradient.data()),
          running_mean(of.running_mean.data()),
          running_variance(of.running_variance.data())
    {
    }

    float* row(FactorRow row, Dim group) const
    {
        return rows + (static_cast<Dim>(row) * norm.map.groups() + group) * norm.map.together;
    }
    NormFactors factors(Dim group) const
    {
        return {row(FactorRow::mean, group), row(FactorRow::slope, group), row(FactorRow::shift, group)};
    }
    SpreadFactors spread(Dim group) const { return {row(FactorRow::of_shift, group), row(FactorRow::of_scale, group)}; }

    const Norm& norm;
    Elements x;
    float *rows, *scale, *shift, *scale_gradient, *shift_gradient, *running_mean, *running_variance;
};

/// Adds the sums of x and of x^2 over a group's strips.
void add_values(const PlacedNorm& placed, Dim group, const Images& images, double* sums)
{
    const ChannelMap& map = placed.norm.map;
    const Elements x = map.at(placed.x, group, images.begin);
    const auto channels = static_cast<std::size_t>(map.together);
    std::array<float, most_together> about{};
    for (std::size_t c = 0; c < channels; ++c)
        about[c] = x.precision == Precision::bf16 ? widen(x.as<BFloat16>()[c]) : x.as<float>()[c];
    std::array<double, most_together> first{};
    std::array<double, most_together> second{};
    for (Dim n = images.begin; n < images.end; ++n)
        map.loops->sums(map.strip(), map.at(placed.x, group, n), about.data(), first.data(), second.data());
    const auto count = static_cast<double>((images.end - images.begin) * map.positions);
    for (std::size_t c = 0; c < channels; ++c) {
        const double a = about[c];
        sums[c] += first[c] + count * a;
        sums[c + channels] += second[c] + a * (2 * first[c] + count * a);
    }
}

/// The strip to write the result with. Results too large for a core's caches use non-temporal stores.
Strip strip_to(const ChannelMap& map, const Elements& result)
{
    constexpr double near_a_core = 2 << 20;  // bytes
    Strip strip = map.strip();
    const double bytes = static_cast<double>(map.images * map.groups() * map.together * map.positions) *
                         traits(result.precision).storage_bytes;
    strip.is_streamed = bytes > near_a_core * omp_get_max_threads();
    return strip;
}

void follow(float& running, double value)
{
    running = static_cast<float>((1 - engine::batch_norm_momentum) * running + engine::batch_norm_momentum * value);
}

/// Computes the group's factors and running statistics from its sums. Factors are zero for padded channels.
void find_statistics(const PlacedNorm& placed, Dim group, const double* sums)
{
    const Norm& norm = placed.norm;
    const Dim together = norm.map.together;
    std::fill_n(placed.row(FactorRow::mean, group), together, 0.0F);
    std::fill_n(placed.row(FactorRow::inverse, group), together, 0.0F);
    std::fill_n(placed.row(FactorRow::slope, group), together, 0.0F);
    std::fill_n(placed.row(FactorRow::shift, group), together, 0.0F);
    for (Dim c = 0; c < std::min(together, norm.map.channels - group * together); ++c) {
        const Dim channel = group * together + c;
        const double mean = sums[c] / norm.values;
        const double variance = std::max(0.0, sums[c + together] / norm.values - mean * mean);
        const double inverse = 1 / std::sqrt(variance + static_cast<double>(norm.epsilon));
        placed.row(FactorRow::mean, group)[c] = static_cast<float>(mean);
        placed.row(FactorRow::inverse, group)[c] = static_cast<float>(inverse);
        placed.row(FactorRow::slope, group)[c] = static_cast<float>(placed.scale[channel] * inverse);
        placed.row(FactorRow::shift, group)[c] = placed.shift[channel];
        follow(placed.running_mean[channel], mean);
        follow(placed.running_variance[channel], variance * norm.values / (norm.values - 1));
    }
}

/// The gradients of scale and shift from this rank's sums, and what the second pass subtracts, from all ranks'.
void find_gradients(const PlacedNorm& placed, Dim group, const double* own, const double* all)
{
    const Norm& norm = placed.norm;
    const Dim together = norm.map.together;
    std::fill_n(placed.row(FactorRow::of_shift, group), together, 0.0F);
    std::fill_n(placed.row(FactorRow::of_scale, group), together, 0.0F);
    for (Dim c = 0; c < std::min(together, norm.map.channels - group * together); ++c) {
        const Dim channel = group * together + c;
        const double inverse = placed.row(FactorRow::inverse, group)[c];
        placed.row(FactorRow::of_shift, group)[c] = static_cast<float>(all[c] / norm.values);
        placed.row(FactorRow::of_scale, group)[c] =
            static_cast<float>(all[c + together] * inverse * inverse / norm.values);
        placed.shift_gradient[channel] = static_cast<float>(own[c]);
        placed.scale_gradient[channel] = static_cast<float>(own[c + together] * inverse);
    }
}

struct Forward {
    explicit Forward(const NormSum& of)
        : map(of.norms.front().map),
          norms(of.norms.begin(), of.norms.end()),
          y(of.result.elements()),
          addend(of.addend.elements()),
          strip(strip_to(map, y)),
          relu(of.relu)
    {
    }

    void sum(Dim group, const Images& images, double* sums) const
    {
        for (std::size_t k = 0; k < norms.size(); ++k) add_values(norms[k], group, images, sums_of_norm(sums, map, k));
    }
    void finish(Dim group, const double*, double* sums) const
    {
        for (std::size_t k = 0; k < norms.size(); ++k) find_statistics(norms[k], group, sums_of_norm(sums, map, k));
    }
    void apply(Dim group, Dim image) const
    {
        Addend added{};
        if (addend.at != nullptr) added.tensor = map.at(addend, group, image);
        if (norms.size() == 2) added = {.tensor = map.at(norms[1].x, group, image), .factors = norms[1].factors(group)};
        map.loops->normalise(strip, map.at(y, group, image), map.at(norms[0].x, group, image), norms[0].factors(group),
                             added, relu);
    }

    const ChannelMap& map;
    std::vector<PlacedNorm> norms;
    Elements y, addend;
    Strip strip;
    bool relu;
};

struct Backward {
    Backward(const NormSum& of, const NormSumGradient& gradient)
        : map(of.norms.front().map),
          norms(of.norms.begin(), of.norms.end()),
          relu(of.relu),
          stores(static_cast<bool>(gradient.sum)),
          first(gradient.first.elements()),
          before_relu(stores ? gradient.sum.elements() : first),
          y(of.result.elements()),
          second(gradient.second.elements())
    {
        for (const Tensor& tensor : gradient.to_sources) {
            to_sources.push_back(tensor.elements());
            const bool in_place = to_sources.back().at == before_relu.at;
            strips.push_back(in_place ? map.strip() : strip_to(map, to_sources.back()));
        }
    }

    /// The gradient that the first norm sums, and whether it is stored. The second norm reads the stored one.
    GivenGradient given(Dim group, Dim image) const
    {
        if (!stores)
            return {.first = map.at(first, group, image), .mask = relu ? ReluMask::normalised : ReluMask::none};
        return {.first = map.at(first, group, image),
                .second = second.at == nullptr ? Elements{} : map.at(second, group, image),
                .mask = ReluMask::result,
                .result = map.at(y, group, image),
                .sum = map.at(before_relu, group, image)};
    }
    void sum(Dim group, const Images& images, double* sums) const
    {
        for (Dim n = images.begin; n < images.end; ++n) {
            for (std::size_t k = 0; k < norms.size(); ++k) add_gradients(k, group, n, sums_of_norm(sums, map, k));
        }
    }
    void add_gradients(std::size_t k, Dim group, Dim image, double* sums) const
    {
        const GivenGradient dy =
            k == 0 ? given(group, image) : GivenGradient{.first = map.at(before_relu, group, image)};
        map.loops->gradient_sums(map.strip(), dy, map.at(norms[k].x, group, image), norms[k].factors(group), sums,
                                 sums + map.together);
    }
    void finish(Dim group, double* own, double* all) const
    {
        for (std::size_t k = 0; k < norms.size(); ++k)
            find_gradients(norms[k], group, sums_of_norm(own, map, k), sums_of_norm(all, map, k));
    }
    void apply(Dim group, Dim image) const
    {
        for (std::size_t k = 0; k < norms.size(); ++k)
            map.loops->spread(strips[k], map.at(to_sources[k], group, image), map.at(before_relu, group, image),
                              relu && !stores ? ReluMask::normalised : ReluMask::none, map.at(norms[k].x, group, image),
                              norms[k].factors(group), norms[k].spread(group));
    }

    const ChannelMap& map;
    std::vector<PlacedNorm> norms;
    bool relu, stores;
    Elements first, before_relu, y, second;
    std::vector<Elements> to_sources;
    std::vector<Strip> strips;  ///< per norm, to write its result
};

}  // namespace

void run_forward(const NormSum& sum)
{
    in_two_passes(sum.norms, Forward(sum));
}

void run_backward(const NormSum& sum, const NormSumGradient& gradient)
{
    in_two_passes(sum.norms, Backward(sum, gradient));
}

}  // namespace roof::onednn
