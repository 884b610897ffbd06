// Exports the cuDNN benches from the shared object. Needs neither a GPU nor a driver.
#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "workloads/cudnn/library/backend.hpp"
#include "workloads/cudnn/train_bench.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/network_bench.hpp"

extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    using namespace roof;
    registry.machine().versions["cuDNN"] = cudnn::library_version();
    if (const auto library = gpu::CublasLt::open()) registry.machine().versions["cuBLASLt"] = library->version();
    registry.add(std::make_unique<cudnn::TrainBench>(engine::choices_folder(), gpu::Nvml::open()));
    for (const parallel::Messages kind : {parallel::Messages::pair, parallel::Messages::group})
        registry.add(std::make_unique<parallel::NetworkBench>(kind, nccl::device_carrier()));
}
