// The channels of a position, in any layout whose positions follow one another and whose channels have at most one
// block.
#pragma once

#include "workloads/kernels/lanes.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>
#include <optional>

namespace roof::onednn {

/// Calls call(thread, begin, end) in every thread with its part of [0, count), which may be empty.
template <class Call>
void for_parts(Dim count, const Call& call)
{
#pragma omp parallel
    {
        const Dim threads = omp_get_num_threads();
        const Dim thread = omp_get_thread_num();
        call(thread, count * thread / threads, count * (thread + 1) / threads);
    }
}

struct Positions {
    Dim images, of_image, channels;
    Dim image, place, group, lanes;  ///< in elements
    Dim stored;                      ///< channels and the zeros that fill the last block

    Dim rows() const { return images * of_image; }
    Dim at(Dim row) const { return row / of_image * image + row % of_image * place; }
    /// Behind the first of its position.
    Dim channel(Dim c) const { return c / lanes * group + c % lanes; }
};

/// Empty for another layout.
std::optional<Positions> positions_in(const Desc& desc);
inline Positions positions_of(const Desc& desc)
{
    return positions_in(desc).value();
}

/// The tensor in its own layout, or else in one that has such positions.
inline Tensor read_by_position(Binding& to, const ir::Tensor& tensor)
{
    const Tensor found = to.read(tensor);
    return positions_in(found.desc()) ? found : to.read(tensor, with_channels_together(found.desc()));
}

/// Of weights with a row for each token or position.
inline Dims dims_of_rows(const ir::Tensor& weights, int channels)
{
    return {static_cast<Dim>(weights.elements()) / channels, channels};
}

/// Calls call(elements of the tensor's type).
template <class Call>
void with_type(const Elements& elements, const Call& call)
{
    if (elements.precision == Precision::bf16)
        call(elements.as<BFloat16>());
    else
        call(elements.as<float>());
}

struct DimRange {
    Dim begin, end;
};

/// Calls copy(where the channels of a position are, the same in rows of `apart` numbers, their count) for each piece of
/// the channels: piece by piece for all positions, which are next to each other in a layout with blocks.
template <class Copy>
[[gnu::always_inline]] inline void for_pieces(const Positions& at, const DimRange& positions, const DimRange& channels,
                                              Dim apart, const Copy& copy)
{
    const Dim first = positions.begin / at.of_image;
    for (Dim c = channels.begin, end = 0; c < channels.end; c = end) {
        end = std::min(channels.end, (c / at.lanes + 1) * at.lanes);
        Dim position = positions.begin, row = c - channels.begin;
        for (Dim image = first; position < positions.end; ++image) {
            const Dim last = std::min(positions.end, (image + 1) * at.of_image);
            Dim place = at.at(position) + at.channel(c);
            for (; position < last; ++position, place += at.place, row += apart) copy(place, row, end - c);
        }
    }
}

/// Channels of a vector that a register holds on any processor with AVX2. Wider ones stay in memory there.
constexpr int row_lanes = 8;
using RowLane = kernels::Lanes<row_lanes>;

template <class From, class To>
[[gnu::always_inline]] inline void copy_channels(const From* from, Dim count, To* to)
{
    Dim c = 0;
    for (; c + row_lanes <= count; c += row_lanes) {
        RowLane::Floats some;
        RowLane::load(from + c, some);
        RowLane::store(some, to + c);
    }
    for (; c < count; ++c) narrow(widen(from[c]), to[c]);
}

template <class Element>
[[gnu::always_inline]] inline void read_channels(const Positions& at, const Elements& from, const DimRange& positions,
                                                 const DimRange& channels, float* rows, Dim apart)
{
    const Element* const first = from.as<Element>();
    for_pieces(
        at, positions, channels, apart, [&](Dim place, Dim in_rows, Dim count) __attribute__((always_inline)) {
            copy_channels(first + place, count, rows + in_rows);
        });
}

/// The channels may go on to at.stored, where the rows have zeros.
template <class Element>
[[gnu::always_inline]] inline void write_channels(const Positions& at, const float* rows, Dim apart,
                                                  const DimRange& positions, const DimRange& channels,
                                                  const Elements& to)
{
    Element* const first = to.as<Element>();
    for_pieces(
        at, positions, channels, apart, [&](Dim place, Dim in_rows, Dim count) __attribute__((always_inline)) {
            copy_channels(rows + in_rows, count, first + place);
        });
}

}  // namespace roof::onednn
