// The batch norm loops of every supported instruction set, compared with the definition in double.
#include "workloads/model/hashed.hpp"
#include "workloads/onednn/operations/batch_norm_passes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// Memory aligned to a cache line, like an arena's tensors.
template <class T>
struct OnLines {
    using value_type = T;
    OnLines() = default;
    template <class Other>
    OnLines(const OnLines<Other>&)
    {
    }
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), line)); }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, line); }
    bool operator==(const OnLines&) const = default;

    static constexpr std::align_val_t line{64};
};

/// A strip's numbers in both precisions, and in double the value that each precision stores.
struct Values {
    Values(std::uint32_t seed, std::size_t count, double offset, Precision held)
        : precision(held), wide(count), half(count)
    {
        model::HashedFill{.seed = seed, .scale = 2, .offset = offset}.fill(wide);
        for (std::size_t i = 0; i < count; ++i) narrow(wide[i], half[i]);
    }
    Elements elements()
    {
        return {precision == Precision::bf16 ? static_cast<void*>(half.data()) : wide.data(), precision};
    }
    double at(std::size_t i) const { return precision == Precision::bf16 ? widen(half[i]) : wide[i]; }

    Precision precision;
    std::vector<float, OnLines<float>> wide;
    std::vector<BFloat16, OnLines<BFloat16>> half;
};

/// A strip with gaps between its positions, and all inputs of its loops.
struct Case {
    Case(int channels, std::ptrdiff_t positions, Precision precision)
        : strip{.positions = positions, .apart = channels + 16, .channels = channels},
          x(1, size(), 3, precision),
          y(2, size(), 0, precision),
          dy(3, size(), 0, precision),
          other(4, size(), 0, precision),
          mean(5, 64, 3, Precision::fp32),
          slope(6, 64, 0, Precision::fp32),
          shift(7, 64, 0, Precision::fp32),
          tolerance(precision == Precision::bf16 ? 0.02 : 3e-6)
    {
    }
    std::size_t size() const { return static_cast<std::size_t>(strip.positions * strip.apart); }
    std::size_t place(std::ptrdiff_t p, int c) const { return static_cast<std::size_t>(p * strip.apart + c); }
    NormFactors factors() { return {mean.wide.data(), slope.wide.data(), shift.wide.data()}; }
    double normalised(const Values& of, std::ptrdiff_t p, int c) const
    {
        const auto k = static_cast<std::size_t>(c);
        return (of.at(place(p, c)) - mean.at(k)) * slope.at(k) + shift.at(k);
    }

    Strip strip;
    Values x, y, dy, other, mean, slope, shift;
    double tolerance;
};

/// Calls check(loops, case) for 1, 2 and 4 vectors per position, for whole and for partial steps of the loops.
template <class Check>
void for_cases(const Check& check)
{
    for (const NormLoops* loops : norm_loops_here()) {
        for (const int wide : {1, 2, 4}) {
            for (const std::ptrdiff_t positions : {1, 49, 1000}) {
                for (const Precision precision : {Precision::fp32, Precision::bf16}) {
                    INFO(loops->name << ", " << wide << " vectors, " << positions << " positions");
                    Case one(wide * loops->lanes, positions, precision);
                    check(*loops, one);
                }
            }
        }
    }
}

/// The maximum difference between result(position, channel) and its expected value.
template <class Distance>
double worst(const Case& one, const Distance& distance)
{
    double most = 0;
    for (std::ptrdiff_t p = 0; p < one.strip.positions; ++p) {
        for (int c = 0; c < one.strip.channels; ++c) {
            const double found = std::abs(distance(p, c));
            most = std::isnan(found) ? INFINITY : std::max(most, found);
        }
    }
    return most;
}

}  // namespace

TEST_CASE("A strip's sums about a value equal the definition")
{
    for_cases([](const NormLoops& loops, Case& one) {
        std::vector<double> first(64, 1), second(64, 2);
        loops.sums(one.strip, one.x.elements(), one.mean.wide.data(), first.data(), second.data());
        for (int c = 0; c < one.strip.channels; ++c) {
            double sum = 1, size = 1, squares = 2;
            for (std::ptrdiff_t p = 0; p < one.strip.positions; ++p) {
                const double distance = one.x.at(one.place(p, c)) - one.mean.at(static_cast<std::size_t>(c));
                sum += distance;
                size += std::abs(distance);
                squares += distance * distance;
            }
            CHECK(first[static_cast<std::size_t>(c)] == Approx(sum).epsilon(0).margin(1e-6 * size));
            CHECK(second[static_cast<std::size_t>(c)] == Approx(squares).epsilon(1e-6));
        }
    });
}

TEST_CASE("A strip is normalised, summed and clipped as defined")
{
    for_cases([](const NormLoops& loops, Case& one) {
        for (const int kind : {0, 1, 2}) {
            for (const bool relu : {false, true}) {
                if (kind == 2 && !relu) continue;
                Addend addend{};
                if (kind > 0) addend.tensor = one.other.elements();
                if (kind == 2) addend.factors = one.factors();
                for (const bool streamed : {false, true}) {
                    one.y = Values(2, one.size(), 0, one.x.precision);
                    one.strip.is_streamed = streamed;
                    loops.normalise(one.strip, one.y.elements(), one.x.elements(), one.factors(), addend, relu);
                    CHECK(worst(one, [&](std::ptrdiff_t p, int c) {
                              double right = one.normalised(one.x, p, c);
                              if (kind == 1) right += one.other.at(one.place(p, c));
                              if (kind == 2) right += one.normalised(one.other, p, c);
                              return one.y.at(one.place(p, c)) - (relu ? std::max(right, 0.0) : right);
                          }) < one.tolerance);
                }
            }
        }
    });
}

TEST_CASE("A strip's gradient passes the ReLU, is summed and reaches the source")
{
    for_cases([](const NormLoops& loops, Case& one) {
        for (const ReluMask mask : {ReluMask::none, ReluMask::normalised, ReluMask::result}) {
            const auto before_relu = [&](std::ptrdiff_t p, int c) {
                const std::size_t at = one.place(p, c);
                const double given = one.dy.at(at) + (mask == ReluMask::result ? one.other.at(at) : 0);
                const bool passes = mask == ReluMask::none ||
                                    (mask == ReluMask::result ? one.y.at(at) > 0 : one.normalised(one.x, p, c) > 0);
                return passes ? given : 0;
            };
            Values sum(8, one.size(), 0, one.x.precision);
            GivenGradient given{.first = one.dy.elements(), .second = {}, .mask = mask, .result = {}, .sum = {}};
            if (mask == ReluMask::result)
                given = {one.dy.elements(), one.other.elements(), mask, one.y.elements(), sum.elements()};
            std::vector<double> first(64), second(64);
            loops.gradient_sums(one.strip, given, one.x.elements(), one.factors(), first.data(), second.data());
            for (int c = 0; c < one.strip.channels; ++c) {
                double shift = 0, scale = 0, size = 1;
                for (std::ptrdiff_t p = 0; p < one.strip.positions; ++p) {
                    shift += before_relu(p, c);
                    size += std::abs(before_relu(p, c));
                    scale += before_relu(p, c) * (one.x.at(one.place(p, c)) - one.mean.at(static_cast<std::size_t>(c)));
                }
                CHECK(first[static_cast<std::size_t>(c)] == Approx(shift).epsilon(0).margin(1e-6 * size));
                CHECK(second[static_cast<std::size_t>(c)] == Approx(scale).epsilon(0).margin(4e-6 * size));
            }
            if (mask == ReluMask::result) {
                CHECK(worst(one, [&](std::ptrdiff_t p, int c) { return sum.at(one.place(p, c)) - before_relu(p, c); }) <
                      one.tolerance);
                continue;
            }
            for (const bool streamed : {false, true}) {
                Values dx(9, one.size(), 0, one.x.precision);
                one.strip.is_streamed = streamed;
                loops.spread(one.strip, dx.elements(), one.dy.elements(), mask, one.x.elements(), one.factors(),
                             {one.shift.wide.data(), one.slope.wide.data()});
                CHECK(worst(one, [&](std::ptrdiff_t p, int c) {
                          const auto k = static_cast<std::size_t>(c);
                          const double distance = one.x.at(one.place(p, c)) - one.mean.at(k);
                          const double right =
                              one.slope.at(k) * (before_relu(p, c) - one.shift.at(k) - distance * one.slope.at(k));
                          return dx.at(one.place(p, c)) - right;
                      }) < one.tolerance);
            }
        }
    });
}

TEST_CASE("Adjacent channels are found only in the layouts that convolutions prefer")
{
    using Tag = dnnl::memory::format_tag;
    const auto map = [](Dim channels, Tag tag) {
        return channel_map(Desc({2, channels, 3, 5}, dnnl::memory::data_type::f32, tag));
    };
    const auto blocked = map(40, Tag::nChw16c);
    REQUIRE(blocked);
    CHECK(blocked->together == 16);
    CHECK(blocked->groups() == 3);
    CHECK(blocked->group == 3 * 5 * 16);
    CHECK(blocked->image == 3 * blocked->group);
    REQUIRE(map(40, Tag::nChw8c));
    CHECK(map(40, Tag::nChw8c)->together == 8);
    const auto last = map(64, Tag::nhwc);
    REQUIRE(last);
    CHECK(last->groups() * last->together == 64);
    CHECK(last->place == 64);
    CHECK_FALSE(map(10, Tag::nhwc));
    CHECK_FALSE(map(64, Tag::nchw));
    CHECK(channel_map(with_channels_together(plain({2, 10, 3, 5}))));
}
