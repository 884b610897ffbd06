// The registration of the oneDNN part.
#include "ert/method/bench/bench_registry.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/onednn/program/dnnl.hpp"
#include "workloads/onednn/train_bench.hpp"

namespace roof {

void add_onednn(BenchRegistry& registry)
{
    registry.machine().versions["oneDNN"] = onednn::library_version();
    registry.add(std::make_unique<onednn::TrainBench>(engine::choices_folder()));
}

}  // namespace roof
