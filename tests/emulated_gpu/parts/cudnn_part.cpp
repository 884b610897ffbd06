// roof_cudnn.so on the emulated device, for tests alone: the real training engine with loops for its libraries, marked.
#include "ert/gpu/nvml.hpp"
#include "tests/emulated_gpu/parts/marked.hpp"
#include "workloads/cudnn/train_bench.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/network_bench.hpp"

namespace {

using namespace roof;

void add_benches(BenchRegistry& registry)
{
    registry.add(std::make_unique<cudnn::TrainBench>(std::filesystem::path(), gpu::Nvml::open()));
    for (const parallel::Messages kind : {parallel::Messages::pair, parallel::Messages::group})
        registry.add(std::make_unique<parallel::NetworkBench>(kind, nccl::device_carrier()));
}

}  // namespace

extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    roof::emulated::add_marked(registry, add_benches);
}
