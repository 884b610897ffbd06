#include "workloads/cudnn/gradients.hpp"

namespace roof::cudnn {

parallel::Packing pack(const Parameters& parameters, std::size_t least_bytes)
{
    const std::vector<std::size_t>& order = parameters.order();
    std::vector<parallel::GradientSize> sizes(order.size());
    std::size_t end = parameters.gradients.elements();
    for (std::size_t place = order.size(); place-- > 0;) {
        const std::size_t parameter = order[place];
        const std::size_t begin = parameters.all()[parameter].first;
        sizes[parameter] = {.count = end - begin, .stage = place};
        end = begin;
    }
    return parallel::pack(sizes, least_bytes);
}

}  // namespace roof::cudnn
