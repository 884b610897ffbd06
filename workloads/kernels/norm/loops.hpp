// The loops of a batch norm over a strip of its map, with vectors of `lanes` fp32 numbers. A source file selects its
// instruction set with a pragma and includes this last. The code calls nothing of the standard library: the linker
// could use a copy compiled for this set in the whole program.
#pragma once

#include "workloads/kernels/lanes.hpp"
#include "workloads/kernels/norm/isa.hpp"

#include <cstddef>

namespace roof::kernels {

template <int lanes>
class NormLoopsFor {
  public:
    static void sums(const Strip& strip, const Elements& x, const float* about, double* first, double* second)
    {
        with_types(strip, x.precision, [&]<int wide, class Element>() {
            sums_of<wide>(strip, x.as<const Element>(), about, first, second);
        });
    }

    static void normalise(const Strip& strip, const Elements& y, const Elements& x, const NormFactors& factors,
                          const Addend& addend, bool relu)
    {
        with_types(strip, y.precision, [&]<int wide, class Element>() {
            if (addend.factors.mean != nullptr)
                normalise_of<wide, Element, Added::normalised>(strip, y, x, factors, addend, relu);
            else if (addend.tensor.at != nullptr)
                normalise_of<wide, Element, Added::plain>(strip, y, x, factors, addend, relu);
            else
                normalise_of<wide, Element, Added::none>(strip, y, x, factors, addend, relu);
        });
    }

    static void gradient_sums(const Strip& strip, const GivenGradient& given, const Elements& x,
                              const NormFactors& factors, double* first, double* second)
    {
        with_types(strip, x.precision, [&]<int wide, class Element>() {
            if (given.mask == ReluMask::none)
                gradient_of<wide, Element, ReluMask::none>(strip, given, x, factors, first, second);
            else if (given.mask == ReluMask::normalised)
                gradient_of<wide, Element, ReluMask::normalised>(strip, given, x, factors, first, second);
            else
                gradient_of<wide, Element, ReluMask::result>(strip, given, x, factors, first, second);
        });
    }

    static void spread(const Strip& strip, const Elements& dx, const Elements& dy, ReluMask mask, const Elements& x,
                       const NormFactors& factors, const SpreadFactors& spread)
    {
        with_types(strip, x.precision, [&]<int wide, class Element>() {
            if (mask == ReluMask::none)
                spread_of<wide, Element, ReluMask::none>(strip, dx, dy, x, factors, spread);
            else
                spread_of<wide, Element, ReluMask::normalised>(strip, dx, dy, x, factors, spread);
        });
    }

  private:
    using Lane = Lanes<lanes>;
    using Floats = typename Lane::Floats;

    enum class Added { none, plain, normalised };

    static constexpr int together = 4;  ///< vectors in flight, so that no sum waits for the previous one
    static constexpr int run = 32;      ///< numbers added in fp32
    static constexpr int early = 4096;  ///< bytes; without this prefetch, loads outrun the hardware prefetchers

    /// Calls loop<vectors of a position, Element>().
    template <class Loop>
    static void with_types(const Strip& strip, Precision precision, const Loop& loop)
    {
        const int wide = strip.channels / lanes;
        if (precision == Precision::bf16)
            with_width<BFloat16>(wide, loop);
        else
            with_width<float>(wide, loop);
    }

    template <class Element, class Loop>
    static void with_width(int wide, const Loop& loop)
    {
        if (wide == 1) loop.template operator()<1, Element>();
        if (wide == 2) loop.template operator()<2, Element>();
        if (wide == 4) loop.template operator()<4, Element>();
    }

    /// One number per channel of a position.
    template <int wide>
    struct Row {
        [[gnu::always_inline]] explicit Row(const float* from)
        {
#pragma GCC unroll 4
            for (int k = 0; k < wide; ++k) Lane::load(from + k * lanes, of[k]);
        }
        Floats of[wide];
    };

    template <int wide>
    struct Factors {
        [[gnu::always_inline]] explicit Factors(const NormFactors& from)
            : mean(from.mean), slope(from.slope), shift(from.shift)
        {
        }
        [[gnu::always_inline]] Floats normalise(const Floats& x, int k) const
        {
            return (x - mean.of[k]) * slope.of[k] + shift.of[k];
        }
        Row<wide> mean, slope, shift;
    };

    template <class Element>
    [[gnu::always_inline]] static Floats loaded(const Element* from)
    {
        Floats value;
        __builtin_prefetch(reinterpret_cast<const char*>(from) + early);
        Lane::load(from, value);
        return value;
    }

    [[gnu::always_inline]] static Floats where_positive(const Floats& mask, const Floats& value)
    {
        const Floats zero = {};
        return mask > zero ? value : zero;
    }

    /// All addresses in an arena are aligned as a non-temporal store needs them.
    template <class Element>
    [[gnu::always_inline]] static void put(const Strip& strip, const Floats& value, Element* to)
    {
        if (strip.is_streamed)
            Lane::stream(value, to);
        else
            Lane::store(value, to);
    }

    /// Calls round(place, k) for vector k of each position; `place` is the offset from the start of the strip.
    template <int wide, class Round>
    [[gnu::always_inline]] static void for_vectors(const Strip& strip, const Round& round)
    {
        for (std::ptrdiff_t p = 0; p < strip.positions; ++p) {
#pragma GCC unroll 4
            for (int k = 0; k < wide; ++k) round(p * strip.apart + k * lanes, k);
        }
    }

    /// round(place, k, first, second) adds vector k of a position to both sums.
    template <int wide, class Round>
    [[gnu::always_inline]] static void add_up(const Strip& strip, double* first, double* second, const Round& round)
    {
        constexpr int side = together / wide;  // positions with separate sums
        for (std::ptrdiff_t begin = 0; begin < strip.positions; begin += run * side) {
            const std::ptrdiff_t end = begin + run * side < strip.positions ? begin + run * side : strip.positions;
            Floats sums[2][side][wide] = {};
            std::ptrdiff_t p = begin;
            for (; p + side <= end; p += side) {
#pragma GCC unroll 4
                for (int s = 0; s < side; ++s) {
#pragma GCC unroll 4
                    for (int k = 0; k < wide; ++k)
                        round((p + s) * strip.apart + k * lanes, k, sums[0][s][k], sums[1][s][k]);
                }
            }
            for (; p < end; ++p) {
#pragma GCC unroll 4
                for (int k = 0; k < wide; ++k) round(p * strip.apart + k * lanes, k, sums[0][0][k], sums[1][0][k]);
            }
            fold<side, wide>(sums[0], first);
            fold<side, wide>(sums[1], second);
        }
    }

    template <int side, int wide>
    [[gnu::always_inline]] static void fold(const Floats (&sums)[side][wide], double* to)
    {
#pragma GCC unroll 4
        for (int k = 0; k < wide; ++k) {
            Floats sum = sums[0][k];
#pragma GCC unroll 4
            for (int s = 1; s < side; ++s) sum += sums[s][k];
#pragma GCC unroll 16
            for (int lane = 0; lane < lanes; ++lane) to[k * lanes + lane] += static_cast<double>(sum[lane]);
        }
    }

    template <int wide, class Element>
    static void sums_of(const Strip& strip, const Element* x, const float* about, double* first, double* second)
    {
        const Row<wide> shift(about);
        add_up<wide>(
            strip, first,
            second, [&](std::ptrdiff_t at, int k, Floats& sum, Floats& squares) __attribute__((always_inline)) {
                const Floats value = loaded(x + at) - shift.of[k];
                sum += value;
                squares += value * value;
            });
    }

    template <int wide, class Element, Added added>
    static void normalise_of(const Strip& strip, const Elements& result, const Elements& source,
                             const NormFactors& factors, const Addend& addend, bool relu)
    {
        Element* const y = result.as<Element>();
        const Element* const x = source.as<const Element>();
        const Element* const other = addend.tensor.as<const Element>();
        const Factors<wide> own(factors);
        const Factors<wide> others(added == Added::normalised ? addend.factors : factors);
        for_vectors<wide>(
            strip, [&](std::ptrdiff_t at, int k) __attribute__((always_inline)) {
                Floats value = own.normalise(loaded(x + at), k);
                if constexpr (added == Added::plain) value += loaded(other + at);
                if constexpr (added == Added::normalised) value += others.normalise(loaded(other + at), k);
                put(strip, relu ? where_positive(value, value) : value, y + at);
            });
    }

    template <int wide, class Element, ReluMask mask>
    static void gradient_of(const Strip& strip, const GivenGradient& given, const Elements& source,
                            const NormFactors& factors, double* first, double* second)
    {
        const Element* const x = source.as<const Element>();
        const Element* const a = given.first.as<const Element>();
        const Element* const b = given.second.as<const Element>();
        const Element* const y = given.result.as<const Element>();
        Element* const to = given.sum.as<Element>();
        const Factors<wide> own(factors);
        add_up<wide>(
            strip, first,
            second, [&](std::ptrdiff_t at, int k, Floats& sum, Floats& products) __attribute__((always_inline)) {
                const Floats value = loaded(x + at);
                Floats dy = loaded(a + at);
                if (b != nullptr) dy += loaded(b + at);
                if constexpr (mask == ReluMask::normalised) dy = where_positive(own.normalise(value, k), dy);
                if constexpr (mask == ReluMask::result) {
                    dy = where_positive(loaded(y + at), dy);
                    Lane::store(dy, to + at);
                }
                sum += dy;
                products += dy * (value - own.mean.of[k]);
            });
    }

    template <int wide, class Element, ReluMask mask>
    static void spread_of(const Strip& strip, const Elements& result, const Elements& given, const Elements& source,
                          const NormFactors& factors, const SpreadFactors& spread)
    {
        Element* const dx = result.as<Element>();
        const Element* const from = given.as<const Element>();
        const Element* const x = source.as<const Element>();
        const Factors<wide> own(factors);
        const Row<wide> of_shift(spread.of_shift);
        const Row<wide> of_scale(spread.of_scale);
        for_vectors<wide>(
            strip, [&](std::ptrdiff_t at, int k) __attribute__((always_inline)) {
                const Floats value = loaded(x + at);
                Floats dy = loaded(from + at);
                if constexpr (mask == ReluMask::normalised) dy = where_positive(own.normalise(value, k), dy);
                const Floats rest = dy - of_shift.of[k] - (value - own.mean.of[k]) * of_scale.of[k];
                put(strip, rest * own.slope.of[k], dx + at);
            });
    }
};

template <int lanes>
consteval NormLoops norm_loops(const char* name)
{
    using Loops = NormLoopsFor<lanes>;
    return {name, lanes, Loops::sums, Loops::normalise, Loops::gradient_sums, Loops::spread};
}

}  // namespace roof::kernels
