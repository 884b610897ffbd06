#include "tests/engine/layers/host_moments.hpp"

#include <algorithm>

namespace roof::ir {
namespace {

/// A value of the weights' product with the covariance.
template <class Operation>
double spread_at(const Operation& op, const Memory& memory, std::size_t channel, std::size_t k)
{
    const auto inputs = static_cast<std::size_t>(op.weights.channels);
    const Values spread(memory, op.spread);
    const std::size_t row = 2 * channel * inputs;
    return static_cast<double>((spread[row + k] + spread[row + inputs + k]) / Values(memory, op.factor)[0]);
}

}  // namespace

void run_moments(const Covariance& op, const Memory& memory)
{
    const Values products(memory, op.products);
    const Values sums(memory, op.sums);
    Values halves(memory, op.halves);
    const auto inputs = static_cast<std::size_t>(op.products.channels);
    const auto rows = static_cast<double>(op.rows);
    const auto at = [&](std::size_t i, std::size_t j) {
        return covariance_of(products[i * inputs + j], sums[i], sums[j], rows);
    };
    float largest = 0;
    for (std::size_t i = 0; i < inputs; ++i) largest = std::max(largest, static_cast<float>(at(i, i)));
    const float factor = power_to_one(largest);
    Values(memory, op.factor).put(0, factor);
    for (std::size_t i = 0; i < inputs; ++i) {
        Values(memory, op.mean).put(i, static_cast<float>(sums[i] / rows));
        for (std::size_t j = 0; j < inputs; ++j) {
            const std::size_t k = i * inputs + j;
            const double value = at(i, j) * factor;
            halves.put(k, static_cast<float>(value));
            halves.put(inputs * inputs + k, static_cast<float>(value - static_cast<double>(halves[k])));
        }
    }
}

std::vector<Moments> run_moments(const MomentStatistics& op, const Memory& memory)
{
    const Values weights(memory, op.weights);
    const Values mean(memory, op.mean);
    const auto inputs = static_cast<std::size_t>(op.weights.channels);
    std::vector<Moments> all;
    for (std::size_t c = 0; c < op.weights.rows(); ++c) {
        double first = 0;
        double second = 0;
        for (std::size_t k = 0; k < inputs; ++k) {
            const double w = weights[c * inputs + k];
            first += w * mean[k];
            second += w * spread_at(op, memory, c, k);
        }
        all.push_back({static_cast<float>(first), static_cast<float>(std::max(second, 0.0))});
    }
    return all;
}

void run_moments(const MomentGradient& op, const Memory& memory)
{
    const Values products(memory, op.products);
    const Values weights(memory, op.weights);
    const Values mean(memory, op.mean);
    const Values sum(memory, op.sum);
    const auto inputs = static_cast<std::size_t>(op.weights.channels);
    for (std::size_t c = 0; c < op.weights.rows(); ++c) {
        const auto product = [&](std::size_t k) {
            return products[c * inputs + k] - static_cast<double>(sum[c]) * mean[k];
        };
        double all = 0;
        for (std::size_t k = 0; k < inputs; ++k) all += product(k) * weights[c * inputs + k];
        const float inverse = Values(memory, op.channels.inverse_deviation)[c];
        const MomentSlope slope = moment_slope_of(inverse, Values(memory, op.weight)[c], static_cast<float>(all),
                                                  sum[c], 1 / static_cast<float>(op.rows));
        Values(memory, op.sum_of_products).put(c, static_cast<float>(all) * inverse);
        Values(memory, op.shares).put(c, slope.share);
        for (std::size_t k = 0; k < inputs; ++k) {
            const std::size_t place = c * inputs + k;
            const double gradient = product(k) - slope.of_spread * spread_at(op, memory, c, k);
            Values(memory, op.gradient).put(place, static_cast<float>(slope.of_product * gradient));
            Values(memory, op.scaled).put(place, slope.of_product * weights[place]);
            Values(memory, op.slopes).put(place, slope.of_weights * weights[place]);
        }
    }
}

void run_moments(const MomentOffset& op, const Memory& memory)
{
    const Values weights(memory, op.weights);
    const Values shares(memory, op.shares);
    const Values curvature(memory, op.curvature);
    const Values mean(memory, op.mean);
    const auto inputs = static_cast<std::size_t>(op.weights.channels);
    for (std::size_t k = 0; k < inputs; ++k) {
        double sum = 0;
        for (std::size_t c = 0; c < op.weights.rows(); ++c)
            sum += static_cast<double>(shares[c]) * weights[c * inputs + k];
        for (std::size_t i = 0; i < inputs; ++i) sum += static_cast<double>(mean[i]) * curvature[i * inputs + k];
        Values(memory, op.result).put(k, static_cast<float>(-sum));
    }
}

}  // namespace roof::ir
