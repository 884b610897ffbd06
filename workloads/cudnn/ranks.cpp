#include "workloads/cudnn/ranks.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

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

Ranks::Ranks(const DeviceProgram& program, parallel::World world, std::shared_ptr<const gpu::Nccl> library,
             const parallel::Options& options, cudaStream_t step)
    : world_(std::move(world)), library_("NCCL " + library->version())
{
    try {
        join(program, std::move(library), options, step);
    } catch (const std::exception& error) {
        world_.communicator->fail(error.what());
        abandon();
        throw;
    }
}

void Ranks::join(const DeviceProgram& program, std::shared_ptr<const gpu::Nccl> library,
                 const parallel::Options& options, cudaStream_t step)
{
    parallel::require_same(*world_.communicator, program.list().parameters.layouts(), parallel::differ_in_layout);
    const parallel::Packing packing = pack(program.list().parameters, options.bucket_bytes);
    buckets_ = packing.buckets.size();
    devices_ = std::make_shared<nccl::Ranks>(std::move(library), world_.communicator);
    exchange_ = std::make_unique<nccl::DeviceExchange>(devices_,
                                                       nccl::DeviceExchangeOptions{.packing = packing,
                                                                                   .mode = options.mode,
                                                                                   .gradients = program.gradients(),
                                                                                   .parameters = program.updated()},
                                                       step);
    parallel::agree(*world_.communicator, nullptr);
}

/// NCCL waits for the other ranks when it is destroyed, so they are released first.
Ranks::~Ranks()
{
    exchange_.reset();
    if (world_.followers != nullptr && !world_.followers->release()) abandon();
}

std::string Ranks::checksums(const DeviceProgram& program) const
{
    exchange_->complete_parameters();
    const Parameters& parameters = program.list().parameters;
    return parameters.checksums(program.numbers(parameters.values));
}

void Ranks::abandon()
{
    if (devices_ != nullptr) devices_->abandon();
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
