#include "workloads/kernels/direct/weights_gradient_pairs.hpp"

namespace roof::kernels {
namespace {

Range needed(const Range& results, const ConvolutionShape& shape, int extent)
{
    const int begin = results.begin * shape.stride - shape.padding;
    const int end = (results.end - 1) * shape.stride - shape.padding + shape.window;
    return common({begin, end}, {0, extent});
}

/// A row of the window in two images. `second`: null if there is none.
struct PairedRow {
    const BFloat16* first;
    const BFloat16* second;
};

int rows_of(const GradientWindow& window)
{
    return length(window.images) * length(window.blocks) * length(window.rows);
}

PairedRow row_of(const BFloat16* from, const GradientStrides& strides, int batch, const GradientWindow& window,
                 int index)
{
    const int rows = length(window.rows), blocks = length(window.blocks);
    const int image = 2 * (window.images.begin + index / (rows * blocks));
    const BFloat16* first = from + strides.at(image, window.blocks.begin + index / rows % blocks,
                                              window.rows.begin + index % rows, window.columns.begin);
    return {first, image + 1 < batch ? first + strides.image : nullptr};
}

}  // namespace

std::size_t GradientWindow::numbers(int lanes) const
{
    return static_cast<std::size_t>(length(images)) * static_cast<std::size_t>(length(blocks)) *
           static_cast<std::size_t>(length(rows)) * static_cast<std::size_t>(length(columns) * lanes);
}

GradientWindow source_window(const ConvolutionShape& shape, const GradientPiece& piece, Range blocks)
{
    return {piece.images, blocks, needed(piece.rows, shape, shape.height), needed(piece.columns, shape, shape.width)};
}

GradientWindow result_window(const GradientPiece& piece, Range blocks)
{
    return {piece.images, blocks, piece.rows, piece.columns};
}

GradientStrides pair_images(const BFloat16* from, const GradientStrides& strides, int batch,
                            const GradientWindow& window, float* to)
{
    GradientStrides packed{.column = strides.column};
    packed.row = length(window.columns) * packed.column;
    packed.block = length(window.rows) * packed.row;
    packed.image = length(window.blocks) * packed.block;
    packed.start = -packed.at(window.images.begin, window.blocks.begin, window.rows.begin, window.columns.begin);
    for (int index = 0; index < rows_of(window); ++index, to += packed.row) {
        const PairedRow row = row_of(from, strides, batch, window, index);
        weights_gradient_pairs(row.first, row.second, length(window.columns), to);
    }
    return packed;
}

void fetch_images(const BFloat16* from, const GradientStrides& strides, int batch, const GradientWindow& window,
                  int part, int parts)
{
    constexpr int line = 32;  // numbers
    const Range mine = share_of(rows_of(window), part, parts);
    const std::ptrdiff_t numbers = length(window.columns) * strides.column;
    for (int index = mine.begin; index < mine.end; ++index) {
        const PairedRow row = row_of(from, strides, batch, window, index);
        for (std::ptrdiff_t at = 0; at < numbers; at += line) {
            __builtin_prefetch(row.first + at, 0, 2);
            if (row.second != nullptr) __builtin_prefetch(row.second + at, 0, 2);
        }
    }
}

}  // namespace roof::kernels
