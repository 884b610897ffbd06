#include "workloads/onednn/loops/direct/weights_gradient_pairs.hpp"

namespace roof::onednn {
namespace {

Range needed(const Range& results, const DirectShape& shape, int extent)
{
    const int begin = results.begin * shape.stride - shape.padding;
    const int end = (results.end - 1) * shape.stride - shape.padding + shape.window;
    return common({begin, end}, {0, extent});
}

}  // namespace

std::size_t GradientWindow::numbers(int lanes) const
{
    return static_cast<std::size_t>(length(images)) * static_cast<std::size_t>(length(blocks)) *
           static_cast<std::size_t>(length(rows)) * static_cast<std::size_t>(length(columns) * lanes);
}

GradientWindow source_window(const DirectShape& shape, const GradientPiece& piece, Range blocks)
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
    for (int pair = window.images.begin; pair < window.images.end; ++pair) {
        for (int block = window.blocks.begin; block < window.blocks.end; ++block) {
            for (int row = window.rows.begin; row < window.rows.end; ++row, to += packed.row) {
                const BFloat16* first = from + strides.at(2 * pair, block, row, window.columns.begin);
                const BFloat16* second = 2 * pair + 1 < batch ? first + strides.image : nullptr;
                weights_gradient_pairs(first, second, length(window.columns), to);
            }
        }
    }
    return packed;
}

}  // namespace roof::onednn
