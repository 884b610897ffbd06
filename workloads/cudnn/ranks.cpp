#include "workloads/cudnn/ranks.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace roof::cudnn {
namespace {

constexpr const char* machine_variable = "NCCL_HOSTID";

}  // namespace

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

bool may_share_gpu()
{
    const char* const enabled = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    return std::getenv(machine_variable) != nullptr || (enabled != nullptr && std::string_view(enabled) == "1");
}

void claim_own_machine(const parallel::Place& place)
{
    const char* const word = std::getenv(machine_variable);
    if (word == nullptr || place.ranks_here < 2) return;
    setenv(machine_variable, (std::string(word) + "-" + std::to_string(place.rank)).c_str(), 1);
}

}  // namespace roof::cudnn
