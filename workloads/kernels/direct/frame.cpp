#include "workloads/kernels/direct/frame.hpp"

#include "workloads/kernels/pieces.hpp"

#include <algorithm>
#include <cstring>

namespace roof::kernels {

DirectFrame::DirectFrame(const DirectAxis& across, int source_rows, int lanes)
    : lanes_(static_cast<std::size_t>(lanes)),
      source_rows_(source_rows),
      source_columns_(across.source),
      advance_(across.advance),
      low_(across.low()),
      phases_(std::min(across.advance, across.reach())),
      columns_(across.most() + (across.reach() - 1) / across.advance),
      is_needed_(advance_ > 2 || low_ < -1 || low_ + across.span(across.most()) > source_columns_ + 1)
{
}

DirectDistances DirectFrame::in_map(int blocks) const
{
    const std::size_t row = numbers(source_columns_), block = row * static_cast<std::size_t>(source_rows_);
    return {row, block, block * static_cast<std::size_t>(blocks)};
}

DirectDistances DirectFrame::in_frame(int rows, int blocks) const
{
    const std::size_t row = numbers(phases_ * columns_), block = odd_lines(row * static_cast<std::size_t>(rows));
    return {row, block, block * static_cast<std::size_t>(blocks)};
}

std::ptrdiff_t DirectFrame::place(int result_column, int shift) const
{
    const auto lanes = static_cast<std::ptrdiff_t>(lanes_);
    if (!is_needed_) return lanes * (result_column * advance_ + shift);
    const int right = shift - low_;
    return lanes * (right % advance_ * columns_ + result_column + right / advance_);
}

void DirectFrame::fill_row(const float* source, float* frame) const
{
    for (int phase = 0; phase < phases_; ++phase) {
        const int low = low_ + phase;  // offset of the first column
        const int before = std::min(columns_, low < 0 ? (advance_ - 1 - low) / advance_ : 0);
        const int end = std::clamp((source_columns_ - low + advance_ - 1) / advance_, before, columns_);
        std::fill_n(frame, numbers(before), 0.0F);
        for (int column = before; column < end; ++column)
            std::memcpy(frame + numbers(column), source + numbers(low + column * advance_), lanes_ * sizeof(float));
        std::fill_n(frame + numbers(end), numbers(columns_ - end), 0.0F);
        frame += numbers(columns_);
    }
}

}  // namespace roof::kernels
