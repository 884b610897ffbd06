// roof_cudnn.so on the emulated device, for tests alone: the real training engine with loops for its libraries, marked.
#include "tests/emulated_gpu/parts/marked.hpp"
#include "workloads/cudnn/train_bench.hpp"

namespace {

void add_training(roof::BenchRegistry& registry)
{
    registry.add(std::make_unique<roof::cudnn::TrainBench>(std::filesystem::path(), nullptr));
}

}  // namespace

extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    roof::emulated::add_marked(registry, add_training);
}
