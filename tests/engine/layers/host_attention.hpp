// The host's loops of attention, in double, with all weights of a query in memory.
#pragma once

#include "tests/engine/layers/host_loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace roof::ir {

/// Places of one image's and head's channels.
struct HostHead {
    std::size_t image, head, heads, kv_heads, positions, channels;  ///< channels of the head

    /// In a map of three parts (queries, keys, values) of all heads, or of one, the results.
    std::size_t at(std::size_t position, std::size_t channel, std::size_t part, std::size_t parts) const
    {
        const std::size_t all = parts == 1 ? heads : heads + 2 * kv_heads;
        const std::size_t place = part == 0 ? head : heads + (part - 1) * kv_heads + head * kv_heads / heads;
        return ((image * positions + position) * all + place) * channels + channel;
    }
    /// In the numbers of queries, which are together for each head.
    std::size_t number(std::size_t position) const { return (image * heads + head) * positions + position; }
};

/// Calls round(head) for each head of each image.
template <class Operation, class Round>
void for_heads(const Operation& op, const Round& round)
{
    const auto heads = static_cast<std::size_t>(op.heads);
    const auto images = static_cast<std::size_t>(op.source.batch * op.added.windows);
    for (std::size_t image = 0; image < images; ++image)
        for (std::size_t head = 0; head < heads; ++head)
            round(HostHead{image, head, heads, static_cast<std::size_t>(op.kv_heads), op.source.rows() / images,
                           static_cast<std::size_t>(op.result.channels) / heads});
}

/// The product of two rows of a head.
inline double dot_of(const HostHead& head, const Values& a, std::size_t of_a, std::size_t part_a, std::size_t parts_a,
                     const Values& b, std::size_t of_b, std::size_t part_b)
{
    double sum = 0;
    for (std::size_t c = 0; c < head.channels; ++c)
        sum += static_cast<double>(a[head.at(of_a, c, part_a, parts_a)]) *
               static_cast<double>(b[head.at(of_b, c, part_b, 3)]);
    return sum;
}

/// Where the table has the number that is added to a score of the head; -1: the key is hidden.
inline std::ptrdiff_t added_at(const Memory& memory, const HostHead& head, const AddedScores& added, std::size_t query,
                               std::size_t key)
{
    const std::size_t pair = (head.image * head.positions + query) * head.positions + key;
    const int row = memory.at<std::int32_t>(added.places)[pair % added.places.elements()];
    return row < 0 ? -1 : row * static_cast<std::ptrdiff_t>(head.heads) + static_cast<std::ptrdiff_t>(head.head);
}

/// The scores of a query against the keys that it reads.
template <class Operation>
std::vector<double> scores_of(const Memory& memory, const Operation& op, const HostHead& head, const Values& source,
                              std::size_t query)
{
    std::vector<double> scores(op.causal ? query + 1 : head.positions);
    for (std::size_t key = 0; key < scores.size(); ++key)
        scores[key] = dot_of(head, source, query, 0, 3, source, key, 1) / std::sqrt(static_cast<double>(head.channels));
    const Values rows(memory, op.added.rows);
    for (std::size_t key = 0; op.added.rows && key < scores.size(); ++key) {
        const std::ptrdiff_t at = added_at(memory, head, op.added, query, key);
        scores[key] = at < 0 ? -1e30 : scores[key] + static_cast<double>(rows[static_cast<std::size_t>(at)]);
    }
    return scores;
}

inline void run_on_host(const Memory& memory, const AttendCached& op)
{
    const Values source(memory, op.source);
    Values cache(memory, op.cache), result(memory, op.result);
    const auto heads = static_cast<std::size_t>(op.heads), kv_heads = static_cast<std::size_t>(op.kv_heads);
    const auto positions = static_cast<std::size_t>(op.cache.width);
    const std::size_t channels = static_cast<std::size_t>(op.result.channels) / heads;
    const float* const angles = memory.at<float>(op.angles);
    for (std::size_t n = 0; n < static_cast<std::size_t>(op.source.batch); ++n) {
        const auto given = [&](std::size_t head, std::size_t c) {
            const std::size_t first = (n * (heads + 2 * kv_heads) + head) * channels, half = channels / 2;
            if (!op.angles || head >= heads + kv_heads) return static_cast<double>(source[first + c]);
            const float own = source[first + c] * angles[c % half];
            const float across = source[first + (c + half) % channels] * angles[half + c % half];
            return static_cast<double>(stored(c < half ? own - across : own + across, op.source.precision));
        };
        const auto place = [&](std::size_t head, std::size_t part, std::size_t position, std::size_t c) {
            return (((n * kv_heads + head) * 2 + part) * positions + position) * channels + c;
        };
        for (std::size_t head = 0; head < kv_heads; ++head)
            for (std::size_t part = 0; part < 2; ++part)
                for (std::size_t c = 0; c < channels; ++c)
                    cache.put(place(head, part, positions - 1, c),
                              static_cast<float>(given(heads + part * kv_heads + head, c)));
        for (std::size_t head = 0; head < heads; ++head) {
            const std::size_t of = head / (heads / kv_heads);
            std::vector<double> weights(positions);
            double total = 0;
            for (std::size_t position = 0; position < positions; ++position) {
                double score = 0;
                for (std::size_t c = 0; c < channels; ++c)
                    score += given(head, c) * static_cast<double>(cache[place(of, 0, position, c)]);
                total += weights[position] = std::exp(score / std::sqrt(static_cast<double>(channels)));
            }
            for (std::size_t c = 0; c < channels; ++c) {
                double sum = 0;
                for (std::size_t position = 0; position < positions; ++position)
                    sum += weights[position] * static_cast<double>(cache[place(of, 1, position, c)]);
                result.put((n * heads + head) * channels + c, static_cast<float>(sum / total));
            }
        }
    }
}

inline void run_on_host(const Memory& memory, const Attention& op)
{
    const Values source(memory, op.source);
    Values result(memory, op.result);
    for_heads(op, [&](const HostHead& head) {
        for (std::size_t query = 0; query < head.positions; ++query) {
            std::vector<double> weights = scores_of(memory, op, head, source, query);
            const double largest = *std::max_element(weights.begin(), weights.end());
            double sum = 0;
            for (double& weight : weights) sum += weight = std::exp(weight - largest);
            memory.at<float>(op.sums)[head.number(query)] = static_cast<float>(largest + std::log(sum));
            for (std::size_t c = 0; c < head.channels; ++c) {
                double value = 0;
                for (std::size_t key = 0; key < weights.size(); ++key)
                    value += weights[key] / sum * static_cast<double>(source[head.at(key, c, 2, 3)]);
                result.put(head.at(query, c, 0, 1), static_cast<float>(value));
            }
        }
    });
}

inline void run_on_host(const Memory& memory, const AttentionGradient& op)
{
    const Values gradient(memory, op.gradient);
    const Values source(memory, op.source);
    const Values result(memory, op.result);
    Values to_source(memory, op.to_source);
    std::vector<double> sums(op.source.elements()), to_rows(op.to_rows.elements());
    for_heads(op, [&](const HostHead& head) {
        const double scale = 1 / std::sqrt(static_cast<double>(head.channels));
        for (std::size_t query = 0; query < head.positions; ++query) {
            const std::vector<double> scores = scores_of(memory, op, head, source, query);
            double product = 0;
            for (std::size_t c = 0; c < head.channels; ++c)
                product += static_cast<double>(result[head.at(query, c, 0, 1)]) *
                           static_cast<double>(gradient[head.at(query, c, 0, 1)]);
            memory.at<float>(op.products)[head.number(query)] = static_cast<float>(product);
            for (std::size_t key = 0; key < scores.size(); ++key) {
                const double weight =
                    std::exp(scores[key] - static_cast<double>(memory.at<float>(op.sums)[head.number(query)]));
                const double slope = weight * (dot_of(head, gradient, query, 0, 1, source, key, 2) - product) * scale;
                const std::ptrdiff_t at = op.to_rows ? added_at(memory, head, op.added, query, key) : -1;
                if (at >= 0) to_rows[static_cast<std::size_t>(at)] += slope / scale;
                for (std::size_t c = 0; c < head.channels; ++c) {
                    const auto given = static_cast<double>(gradient[head.at(query, c, 0, 1)]);
                    sums[head.at(query, c, 0, 3)] += slope * static_cast<double>(source[head.at(key, c, 1, 3)]);
                    sums[head.at(key, c, 1, 3)] += slope * static_cast<double>(source[head.at(query, c, 0, 3)]);
                    sums[head.at(key, c, 2, 3)] += weight * given;
                }
            }
        }
    });
    for (std::size_t k = 0; k < sums.size(); ++k) to_source.put(k, static_cast<float>(sums[k]));
    Values to_table(memory, op.to_rows);
    for (std::size_t k = 0; op.to_rows && k < to_rows.size(); ++k) to_table.put(k, static_cast<float>(to_rows[k]));
}

}  // namespace roof::ir
