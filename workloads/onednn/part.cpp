// What oneDNN brings to the lab.
#include "ert/method/lab/lab.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/onednn/program/dnnl.hpp"
#include "workloads/onednn/train_bench.hpp"

namespace roof {

void add_onednn(Lab& lab)
{
    lab.machine().versions["oneDNN"] = onednn::library_version();
    lab.add(std::make_unique<onednn::TrainBench>(engine::choices_folder()));
}

}  // namespace roof
