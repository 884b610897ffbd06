// Batch norm over the batches of all ranks; m and v are a channel's mean and (biased) variance over the n values of all of them:
//   y = g * (x - m) / sqrt(v + eps) + b;   db = sum of dy;  dg = sum of dy * z,  z = (x - m) / sqrt(v + eps)
//   dx = g / sqrt(v + eps) * (dy - S(dy) / n - z * S(dy * z) / n),  S the sum over the values of all ranks
// Two sums per channel cross the ranks on the way there and two on the way back, in double. The loops are this project's, for the
// layouts that convolutions like.
#include "workloads/onednn/layers.hpp"
#include "workloads/onednn/loops/parallel.hpp"

#include <array>
#include <cmath>

namespace roof::onednn {
namespace {

constexpr Dim most_together = 16;

/// Where the channels of a map lie: some together, side by side.
struct Map {
    Dim batch, channels, positions;
    Dim together;                ///< channels that lie side by side
    Dim image, group, position;  ///< from one to the next

    Dim groups() const { return channels / together; }
};

/// Throws Error for a layout that cuts anything but channels.
Map map_of(const Desc& desc)
{
    const Dims dims = dims_of(desc);
    const Blocking blocking = blocking_of(desc);
    Map map{.batch = dims[0],
            .channels = dims[1],
            .positions = dims[2] * dims[3],
            .together = 1,
            .image = blocking.strides.at(0),
            .group = blocking.strides.at(1),
            .position = blocking.strides.at(3)};
    const bool blocked = blocking.blocks.size() == 1 && blocking.block_dims.front() == 1;
    if (blocked) map.together = blocking.blocks.front();
    const bool channels_last = blocking.blocks.empty() && map.group == 1 && map.channels % most_together == 0;
    if (channels_last) map.together = map.group = most_together;
    const bool in_rows = blocking.strides.at(2) == dims[3] * map.position;
    if (!in_rows || map.together > most_together || map.channels % map.together != 0 ||
        (!blocked && !blocking.blocks.empty()))
        throw Error("synchronised batch norm does not know the layout " + layout_name(desc));
    return map;
}

/// Two sums per channel of a group.
struct Sums {
    std::array<double, most_together> first{};
    std::array<double, most_together> second{};
};

/// Calls visit(offset of the first channel) for each place of the group.
template <class Visit>
void for_places(const Map& map, Dim group, const Visit& visit)
{
    for (Dim n = 0; n < map.batch; ++n) {
        for (Dim p = 0; p < map.positions; ++p) visit(n * map.image + group * map.group + p * map.position);
    }
}

/// add(sums, offset, channel in the group, channel) for each value; all first sums, then all second ones.
template <class Add>
std::vector<double> sums_over(const Map& map, const Add& add)
{
    std::vector<double> all(static_cast<std::size_t>(2 * map.channels));
#pragma omp parallel for
    for (Dim group = 0; group < map.groups(); ++group) {
        Sums sums;
        for_places(map, group, [&](Dim place) {
            for (Dim k = 0; k < map.together; ++k) add(sums, place + k, k, group * map.together + k);
        });
        for (Dim k = 0; k < map.together; ++k) {
            const auto channel = static_cast<std::size_t>(group * map.together + k);
            all[channel] = sums.first[static_cast<std::size_t>(k)];
            all[channel + static_cast<std::size_t>(map.channels)] = sums.second[static_cast<std::size_t>(k)];
        }
    }
    return all;
}

/// set(offset, channel) for each value.
template <class Set>
void for_values(const Map& map, const Set& set)
{
#pragma omp parallel for
    for (Dim group = 0; group < map.groups(); ++group) {
        for_places(map, group, [&](Dim place) {
            for (Dim k = 0; k < map.together; ++k) set(place + k, group * map.together + k);
        });
    }
}

struct Norm {
    Map map;
    double values;  ///< per channel, of all ranks
    std::shared_ptr<const parallel::Communicator> ranks;
    Tensor source, mean, deviation, scale, shift, scale_gradient, shift_gradient;
    Running running;
};

void find_statistics(const Norm& norm)
{
    const float* const x = norm.source.data();
    std::vector<double> sums = sums_over(norm.map, [x](Sums& s, Dim at, Dim k, Dim) {
        s.first[static_cast<std::size_t>(k)] += x[at];
        s.second[static_cast<std::size_t>(k)] += static_cast<double>(x[at]) * x[at];
    });
    norm.ranks->sum(sums);
    const auto follow = [](float& running, double value) {
        running = static_cast<float>((1 - batch_norm_momentum) * running + batch_norm_momentum * value);
    };
    const auto channels = static_cast<std::size_t>(norm.map.channels);
    for (std::size_t c = 0; c < channels; ++c) {
        const double mean = sums[c] / norm.values;
        const double variance = std::max(0.0, sums[c + channels] / norm.values - mean * mean);
        norm.mean.data()[c] = static_cast<float>(mean);
        norm.deviation.data()[c] = static_cast<float>(std::sqrt(variance + batch_norm_epsilon));
        follow(norm.running.mean.data()[c], mean);
        follow(norm.running.variance.data()[c], variance * norm.values / (norm.values - 1));
    }
}

void normalise(const Norm& norm, const Tensor& result)
{
    const float *x = norm.source.data(), *m = norm.mean.data(), *d = norm.deviation.data();
    const float *g = norm.scale.data(), *b = norm.shift.data();
    float* const y = result.data();
    for_values(norm.map, [=](Dim at, Dim c) { y[at] = g[c] * (x[at] - m[c]) / d[c] + b[c]; });
}

void differentiate(const Norm& norm, const Tensor& given, const Tensor& to_source)
{
    const float *x = norm.source.data(), *m = norm.mean.data(), *d = norm.deviation.data(), *g = norm.scale.data();
    const float* const dy = given.data();
    std::vector<double> sums = sums_over(norm.map, [=](Sums& s, Dim at, Dim k, Dim c) {
        s.first[static_cast<std::size_t>(k)] += dy[at];
        s.second[static_cast<std::size_t>(k)] += static_cast<double>(dy[at]) * ((x[at] - m[c]) / d[c]);
    });
    const auto channels = static_cast<std::size_t>(norm.map.channels);
    std::copy_n(sums.data(), channels, norm.shift_gradient.data());
    std::copy_n(sums.data() + channels, channels, norm.scale_gradient.data());
    norm.ranks->sum(sums);
    float* const dx = to_source.data();
    for_values(norm.map, [=, &sums, n = norm.values](Dim at, Dim c) {
        const float z = (x[at] - m[c]) / d[c];
        const auto of_shift = static_cast<float>(sums[static_cast<std::size_t>(c)] / n);
        const auto of_scale = static_cast<float>(sums[static_cast<std::size_t>(c) + channels] / n);
        dx[at] = g[c] / d[c] * (dy[at] - of_shift - z * of_scale);
    });
}

void forward(Builder& build, const Unit& unit, const Norm& norm)
{
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor result = build.program.tensor(norm.source.desc());
    build.program.append([norm] { find_statistics(norm); }, {norm.source, norm.mean, norm.deviation},
                         "roof:synchronised_statistics");
    build.program.append([norm, result] { normalise(norm, result); },
                         {norm.source, norm.mean, norm.deviation, norm.scale, norm.shift, result}, "roof:normalise");
    build.put(unit, result);
}

void backward(Builder& build, const Unit& unit, const Norm& norm)
{
    build.begin(unit, Phase::backward);
    build.add_work(build.work(unit.layer).backward_data);
    const Gradient given = build.gradient(unit.layer);
    const Tensor to_source = given.shared ? build.program.tensor(given.tensor.desc()) : given.tensor;
    build.program.append([=] { differentiate(norm, given.tensor, to_source); },
                         {norm.source, norm.mean, norm.deviation, norm.scale, given.tensor, to_source},
                         "roof:synchronised_batch_norm");
    build.give(build.source(unit), {to_source});
}

}  // namespace

void synchronised_batch_norm(Builder& build, const Unit& unit)
{
    const Tensor source = build.outputs[static_cast<std::size_t>(build.source(unit))];
    const Dims channels{build.layer(unit).output.channels};
    const Trained& scale = build.train(unit.layer, false, plain(channels), channels);
    const Trained& shift = build.train(unit.layer, true, plain(channels), channels);
    const Map map = map_of(source.desc());
    build.running.push_back(
        {build.layer(unit).name, build.program.resident(plain(channels)), build.program.resident(plain(channels))});
    const Norm norm{.map = map,
                    .values = static_cast<double>(map.batch * map.positions * build.settings.ranks->size),
                    .ranks = build.settings.ranks,
                    .source = source,
                    .mean = build.program.tensor(plain(channels)),
                    .deviation = build.program.tensor(plain(channels)),
                    .scale = scale.value,
                    .shift = shift.value,
                    .scale_gradient = scale.gradient,
                    .shift_gradient = shift.gradient,
                    .running = build.running.back()};
    forward(build, unit, norm);
    build.tape.emplace_back([=, &build] { backward(build, unit, norm); });
}

}  // namespace roof::onednn
