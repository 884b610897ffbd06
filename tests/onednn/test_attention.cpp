// The loops of attention in each instruction set beside whole matrices in double.
#include "workloads/kernels/attention/isa.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace roof::kernels;

namespace {

using Numbers = std::vector<float>;

/// Random rows with zeros behind their channels.
Numbers rows_of(const AttentionShape& shape, unsigned seed)
{
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(-2, 2);
    Numbers rows(static_cast<std::size_t>(shape.rows()));
    for (int position = 0; position < shape.positions; ++position)
        for (int c = 0; c < shape.channels; ++c)
            rows[static_cast<std::size_t>(position * shape.stored() + c)] = values(bits);
    return rows;
}

/// Behind the last position there is what is no number.
Numbers columns_of(const AttentionShape& shape, const Numbers& rows)
{
    Numbers columns(static_cast<std::size_t>(shape.columns()), std::nanf(""));
    for (int position = 0; position < shape.positions; ++position)
        for (int c = 0; c < shape.channels; ++c)
            columns[static_cast<std::size_t>(c * shape.padded() + position)] =
                rows[static_cast<std::size_t>(position * shape.stored() + c)];
    return columns;
}

/// Weights [query][key], and what follows from them, in double.
struct Expected {
    std::vector<double> weights, results, logarithms, products, queries, keys, values;
};

Expected expected_of(const AttentionShape& shape, const Numbers& q, const Numbers& k, const Numbers& v,
                     const Numbers& given)
{
    const auto count = static_cast<std::size_t>(shape.positions);
    const auto stored = static_cast<std::size_t>(shape.stored());
    const auto dot = [&](const Numbers& a, std::size_t i, const Numbers& b, std::size_t j) {
        double sum = 0;
        for (std::size_t c = 0; c < stored; ++c)
            sum += static_cast<double>(a[i * stored + c]) * static_cast<double>(b[j * stored + c]);
        return sum;
    };
    const std::vector<double> zeros(count * stored);
    Expected due{std::vector<double>(count * count), zeros, {}, {}, zeros, zeros, zeros};
    const auto add = [&](std::vector<double>& to, std::size_t i, double factor, const Numbers& from, std::size_t j) {
        for (std::size_t c = 0; c < stored; ++c)
            to[i * stored + c] += factor * static_cast<double>(from[j * stored + c]);
    };
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < (shape.causal ? i + 1 : count); ++j)
            sum += due.weights[i * count + j] = std::exp(static_cast<double>(shape.scale) * dot(q, i, k, j));
        due.logarithms.push_back(std::log(sum));
        double product = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const double weight = due.weights[i * count + j] /= sum;
            add(due.results, i, weight, v, j);
            add(due.values, j, weight, given, i);
            product += weight * dot(given, i, v, j);
        }
        due.products.push_back(product);
        for (std::size_t j = 0; j < count; ++j) {
            const double slope =
                due.weights[i * count + j] * (dot(given, i, v, j) - product) * static_cast<double>(shape.scale);
            add(due.queries, i, slope, k, j);
            add(due.keys, j, slope, q, i);
        }
    }
    return due;
}

void check(const Numbers& found, const std::vector<double>& due)
{
    REQUIRE(found.size() == due.size());
    for (std::size_t i = 0; i < due.size(); ++i) {
        INFO("number " << i);
        REQUIRE(std::abs(static_cast<double>(found[i]) - due[i]) < 1e-4 * (1 + std::abs(due[i])));
    }
}

Numbers narrow(const std::vector<double>& numbers)
{
    return {numbers.begin(), numbers.end()};
}

}  // namespace

TEST_CASE("Attention by blocks is that of whole matrices, forward and backward, in every instruction set")
{
    for (const AttentionLoops* loops : attention_loops_here()) {
        for (const bool causal : {false, true}) {
            for (const int positions : {1, 63, 64, 65, 150}) {
                for (const int channels : {5, 16, 64, 88}) {
                    INFO(loops->name << ", " << positions << " positions, " << channels << " channels, causal "
                                     << causal);
                    const AttentionShape shape{positions, channels, 0.3F, causal};
                    const Numbers q = rows_of(shape, 1), k = rows_of(shape, 2), v = rows_of(shape, 3),
                                  given = rows_of(shape, 4);
                    const Expected due = expected_of(shape, q, k, v, given);
                    const Numbers key_columns = columns_of(shape, k), value_columns = columns_of(shape, v);
                    const AttentionOperands of{q.data(), k.data(), v.data(), key_columns.data(), value_columns.data()};
                    const auto count = static_cast<std::size_t>(positions);
                    Numbers results(q.size(), std::nanf("")), largest(count), total(count);
                    Numbers scratch(static_cast<std::size_t>(attention_scratch), std::nanf(""));
                    loops->forward(shape, of, results.data(), {largest.data(), total.data()}, scratch.data());
                    check(results, due.results);
                    Numbers logarithms;
                    for (std::size_t i = 0; i < count; ++i) logarithms.push_back(largest[i] + std::log(total[i]));
                    check(logarithms, due.logarithms);
                    Numbers queries(q.size(), std::nanf("")), keys = queries, values = queries;
                    const Numbers sums = narrow(due.logarithms), products = narrow(due.products);
                    loops->backward(shape, of, {given.data(), sums.data(), products.data()},
                                    {queries.data(), keys.data(), values.data()}, scratch.data());
                    check(queries, due.queries);
                    check(keys, due.keys);
                    check(values, due.values);
                }
            }
        }
    }
}
