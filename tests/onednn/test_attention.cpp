// The loops of attention in each instruction set beside whole matrices in double.
#include "workloads/kernels/attention/isa.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace roof;
using namespace roof::kernels;

namespace {

/// Channels of three heads, of which the second is the loops', in blocks of `lanes` or, with no lanes, of all channels.
/// They begin as NaN.
class HeadInTensor {
  public:
    HeadInTensor(const AttentionShape& shape, Precision precision, int lanes)
        : positions_(shape.positions),
          channels_(shape.channels),
          lanes_(lanes == 0 ? 3 * channels_ : lanes),
          precision_(precision),
          floats_(count(), std::nanf("")),
          halves_(count(), BFloat16{0x7fc0})
    {
    }
    AttentionMap map()
    {
        void* const at = precision_ == Precision::bf16 ? static_cast<void*>(halves_.data()) : floats_.data();
        return {.elements = {at, precision_},
                .position = lanes_,
                .group = std::ptrdiff_t{positions_} * lanes_,
                .lanes = lanes_,
                .channel = channels_};
    }
    void fill(unsigned seed)
    {
        std::mt19937 bits(seed);
        std::uniform_real_distribution<float> values(-2, 2);
        for (int p = 0; p < positions_; ++p)
            for (int c = 0; c < channels_; ++c) {
                const float value = values(bits);
                floats_[place(p, channels_ + c)] = value;
                roof::kernels::narrow(value, halves_[place(p, channels_ + c)]);
            }
    }
    double at(int position, int channel) const { return number(place(position, channels_ + channel)); }
    /// Whether nothing but the second head's channels has numbers.
    bool others_are_untouched() const
    {
        std::size_t numbers = 0;
        for (std::size_t k = 0; k < count(); ++k) numbers += std::isnan(number(k)) ? 0 : 1;
        return numbers == static_cast<std::size_t>(positions_) * static_cast<std::size_t>(channels_);
    }

  private:
    std::size_t count() const
    {
        return static_cast<std::size_t>((3 * channels_ + lanes_ - 1) / lanes_ * lanes_ * positions_);
    }
    std::size_t place(int p, int k) const
    {
        return static_cast<std::size_t>((k / lanes_ * positions_ + p) * lanes_ + k % lanes_);
    }
    double number(std::size_t k) const
    {
        return static_cast<double>(precision_ == Precision::bf16 ? widen(halves_[k]) : floats_[k]);
    }

    int positions_, channels_, lanes_;
    Precision precision_;
    std::vector<float> floats_;
    std::vector<BFloat16> halves_;
};

/// Numbers [position][channel], and what the terms of their sums add up to without signs.
struct Sums {
    explicit Sums(std::size_t count) : value(count), size(count) {}
    std::vector<double> value, size;

    void add(std::size_t at, double factor, double of_factor, double number)
    {
        value[at] += factor * number;
        size[at] += of_factor * std::abs(number);
    }
};

struct Expected {
    Sums results, queries, keys, values;
    std::vector<double> logarithms;
    Sums added;
};

/// A table of three heads, of which the second is the loops', and the row of each pair. One in five is hidden.
struct Table {
    explicit Table(const AttentionShape& shape)
        : numbers(static_cast<std::size_t>(3 * shape.rows)),
          places(static_cast<std::size_t>(shape.positions * shape.positions))
    {
        std::mt19937 bits(5);
        std::uniform_real_distribution<float> values(-2, 2);
        for (float& number : numbers) number = values(bits);
        for (std::size_t k = 0; shape.rows > 0 && k < places.size(); ++k) {
            const bool is_own = k % static_cast<std::size_t>(shape.positions + 1) == 0;
            places[k] = !is_own && bits() % 5 == 0 ? -1 : static_cast<int>(bits() % static_cast<unsigned>(shape.rows));
        }
    }
    std::vector<float> numbers;
    std::vector<int> places;
};

Expected expected_of(const AttentionShape& shape, const Table& table, const HeadInTensor& q, const HeadInTensor& k,
                     const HeadInTensor& v, const HeadInTensor& given)
{
    const auto scale = static_cast<double>(shape.scale);
    const auto all = static_cast<std::size_t>(shape.positions * shape.channels);
    const auto dot = [&](const HeadInTensor& a, int i, const HeadInTensor& b, int j) {
        double sum = 0;
        for (int c = 0; c < shape.channels; ++c) sum += a.at(i, c) * b.at(j, c);
        return sum;
    };
    Expected due{Sums(all), Sums(all), Sums(all), Sums(all), {}, Sums(static_cast<std::size_t>(shape.rows))};
    const auto row = [&](int i, int j) { return table.places[static_cast<std::size_t>(i * shape.positions + j)]; };
    const auto added = [&](int i, int j) -> double {
        if (shape.rows == 0) return 0;
        if (row(i, j) < 0) return -std::numeric_limits<double>::infinity();
        return static_cast<double>(table.numbers[static_cast<std::size_t>(3 * row(i, j) + 1)]);
    };
    const auto at = [&](int position, int c) { return static_cast<std::size_t>(position * shape.channels + c); };
    for (int i = 0; i < shape.positions; ++i) {
        std::vector<double> weights;
        double sum = 0, product = 0, size = 0;
        for (int j = 0; j < (shape.causal ? i + 1 : shape.positions); ++j)
            sum += weights.emplace_back(std::exp(scale * dot(q, i, k, j) + added(i, j)));
        due.logarithms.push_back(std::log(sum));
        const auto keys = static_cast<int>(weights.size());
        for (int j = 0; j < keys; ++j) {
            const double weight = weights[static_cast<std::size_t>(j)] /= sum;
            for (int c = 0; c < shape.channels; ++c) {
                due.results.add(at(i, c), weight, weight, v.at(j, c));
                due.values.add(at(j, c), weight, weight, given.at(i, c));
            }
        }
        for (int c = 0; c < shape.channels; ++c) {
            product += due.results.value[at(i, c)] * given.at(i, c);
            size += due.results.size[at(i, c)] * std::abs(given.at(i, c));
        }
        for (int j = 0; j < keys; ++j) {
            const double weight = weights[static_cast<std::size_t>(j)], from = dot(given, i, v, j);
            const double slope = weight * (from - product) * scale;
            const double of_slope = weight * (std::abs(from) + size) * scale;
            if (shape.rows > 0 && row(i, j) >= 0)
                due.added.add(static_cast<std::size_t>(row(i, j)), slope / scale, of_slope / scale, 1);
            for (int c = 0; c < shape.channels; ++c) {
                due.queries.add(at(i, c), slope, of_slope, k.at(j, c));
                due.keys.add(at(j, c), slope, of_slope, q.at(i, c));
            }
        }
    }
    return due;
}

void check(const AttentionShape& shape, const HeadInTensor& found, const Sums& due, double tolerance)
{
    CHECK(found.others_are_untouched());
    for (int position = 0; position < shape.positions; ++position) {
        for (int c = 0; c < shape.channels; ++c) {
            const auto k = static_cast<std::size_t>(position * shape.channels + c);
            if (!(std::abs(found.at(position, c) - due.value[k]) < tolerance * due.size[k]))
                FAIL("position " << position << ", channel " << c << ": " << found.at(position, c) << ", due "
                                 << due.value[k]);
        }
    }
}

/// What a head reads, and what whole matrices make of it.
struct HeadCase {
    HeadCase(const AttentionShape& of, Precision of_numbers, int of_lanes)
        : shape(of),
          precision(of_numbers),
          lanes(of_lanes),
          q(shape, precision, lanes),
          k(q),
          v(q),
          given(q),
          table(shape)
    {
        q.fill(1);
        k.fill(2);
        v.fill(3);
        given.fill(4);
        due = expected_of(shape, table, q, k, v, given);
    }
    AttentionShape shape;
    Precision precision;
    int lanes;
    HeadInTensor q, k, v, given;
    Table table;
    Expected due{Sums(0), Sums(0), Sums(0), Sums(0), {}, Sums(0)};
};

/// Forward, then backward with what the forward pass wrote, each by so many parts.
void check(const AttentionLoops& loops, HeadCase& c, int parts, double tolerance)
{
    const AttentionShape& shape = c.shape;
    HeadInTensor results(shape, c.precision, c.lanes), to_q = results, to_k = results, to_v = results;
    std::vector<float> logarithms(static_cast<std::size_t>(shape.positions));
    AttentionTensors of{c.q.map(),     c.k.map(),  c.v.map(),  results.map(), logarithms.data(),
                        c.given.map(), to_q.map(), to_k.map(), to_v.map()};
    std::vector<float> to_added(static_cast<std::size_t>(shape.rows));
    of.added = c.table.numbers.data() + 1;
    of.apart = 3;
    of.places = c.table.places.data();
    of.to_added = to_added.data();
    std::vector<float> scratch(static_cast<std::size_t>(loops.scratch(shape)), std::nanf(""));
    const auto each = static_cast<std::size_t>(loops.gradients(shape));
    std::vector<float> gradients(each * static_cast<std::size_t>(parts), std::nanf(""));
    for (int part = 0; part < parts; ++part) loops.forward(shape, of, part, parts, scratch.data());
    std::fill(scratch.begin(), scratch.end(), std::nanf(""));
    for (int part = 0; part < parts; ++part)
        loops.backward(shape, of, part, parts, gradients.data() + each * static_cast<std::size_t>(part),
                       scratch.data());
    loops.add_parts(shape, of, parts, gradients.data());

    for (std::size_t i = 0; i < logarithms.size(); ++i)
        REQUIRE(std::abs(static_cast<double>(logarithms[i]) - c.due.logarithms[i]) <
                1e-5 * (1 + std::abs(c.due.logarithms[i])));
    check(shape, results, c.due.results, tolerance);
    check(shape, to_q, c.due.queries, tolerance);
    check(shape, to_k, c.due.keys, tolerance);
    check(shape, to_v, c.due.values, tolerance);
    for (std::size_t row = 0; row < to_added.size(); ++row)
        REQUIRE(std::abs(static_cast<double>(to_added[row]) - c.due.added.value[row]) <=
                tolerance * c.due.added.size[row]);
}

}  // namespace

TEST_CASE("Attention by blocks is that of whole matrices, forward and backward, in every instruction set")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        for (const bool causal : {false, true}) {
            for (const int positions : {1, 31, 64, 65, 150}) {
                for (const int channels : {5, 16, 64, 88}) {
                    const int lanes = channels == 16 ? 0 : 16, parts = positions > 64 && channels == 5 ? 2 : 1;
                    HeadCase c({positions, channels, 0.3F, causal}, precision, lanes);
                    for (const AttentionLoops* loops : attention_loops_here(precision)) {
                        INFO(loops->name << (precision == Precision::bf16 ? ", bf16, " : ", fp32, ") << positions
                                         << " positions, " << channels << " channels, causal " << causal);
                        // bf16 has 8 bits: weights, slopes and results are rounded.
                        check(*loops, c, parts, precision == Precision::bf16 ? 0.01 : 1e-5);
                    }
                }
            }
        }
    }
}

TEST_CASE("Attention adds rows of a table to its scores, and hides pairs, in every instruction set")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        for (const int positions : {1, 49, 65, 130}) {
            HeadCase c({.positions = positions, .channels = 20, .scale = 0.3F, .rows = 13}, precision, 16);
            for (const AttentionLoops* loops : attention_loops_here(precision)) {
                INFO(loops->name << ", " << positions << " positions");
                check(*loops, c, positions > 64 ? 2 : 1, precision == Precision::bf16 ? 0.01 : 1e-5);
            }
        }
    }
}

TEST_CASE("Attention keeps its digits where each block of keys has much larger scores than the one before")
{
    // Scores of hundreds, which have 16 bits behind the point: one block's weights underflow beside the next one's.
    HeadCase c({300, 88, 8, false}, Precision::fp32, 16);
    for (const AttentionLoops* loops : attention_loops_here(Precision::fp32)) {
        INFO(loops->name);
        check(*loops, c, 3, 1e-3);
    }
}
