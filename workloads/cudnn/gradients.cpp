#include "workloads/cudnn/gradients.hpp"

namespace roof::cudnn {

GradientBlock gradient_block(const Parameters& parameters, float* begin)
{
    GradientBlock block{begin, parameters.gradients.elements(), {}, parameters.order()};
    for (const Trained& trained : parameters.all()) block.pieces.push_back({trained.first, trained.count});
    return block;
}

parallel::Packing pack(const GradientBlock& block, std::size_t least_bytes)
{
    std::vector<parallel::GradientSize> sizes(block.pieces.size());
    std::size_t end = block.count;
    for (std::size_t place = block.order.size(); place-- > 0;) {
        const std::size_t parameter = block.order[place];
        const std::size_t begin = block.pieces[parameter].first;
        sizes[parameter] = {.count = end - begin, .stage = place};
        end = begin;
    }
    return parallel::pack(sizes, least_bytes);
}

}  // namespace roof::cudnn
