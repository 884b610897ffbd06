#include "workloads/onednn/ranks.hpp"

#include "workloads/kernels/parallel.hpp"
#include "workloads/parallel/cpus.hpp"

#include <thread>
#include <utility>

namespace roof::onednn {
namespace {

void keep_threads_to(int threads, const std::vector<int>& cpus)
{
    if (cpus.empty()) return;
#pragma omp parallel num_threads(threads)
    parallel::keep_to(cpus);
}

}  // namespace

Ranks::Ranks(Network& network, parallel::World world, const parallel::Options& options)
    : world_(std::move(world)),
      network_(network),
      exchange_(world_.communicator, parallel::pack(network.gradient_sizes(), options.bucket_bytes), options.mode,
                clock_)
{
    network_.place_gradients([this](std::size_t parameter) { return exchange_.gradient(parameter); });
}

void Ranks::begin()
{
    world_.launch();
    exchange_.begin(network_.trained_bytes());
}

void Ranks::backward(Trace& trace)
{
    network_.backward(trace, [this](std::size_t parameter) { exchange_.ready(parameter); });
    trace.communicated(exchange_.finish());
}

double Ranks::update(double loss, Trace& trace)
{
    if (exchange_.updates())
        network_.update(trace);
    else
        network_.leave_update_to_another();
    return world_.mean(loss);
}

std::vector<std::string> Ranks::remarks() const
{
    const bool takes_turns = world_.place.ranks_here > static_cast<int>(std::thread::hardware_concurrency());
    return world_.remarks(
        takes_turns ? "more ranks than processors: they take turns, and this time is not one of ranks side by side"
                    : "");
}

Pinned::Pinned(const parallel::Place& place, int threads) : threads_(threads)
{
    if (place.launcher != parallel::Launcher::roof) return;  // MPI's launcher places its ranks
    const std::vector<int> all = parallel::allowed_cpus();
    const std::vector<int> own = place.rank > 0 ? all : parallel::cpus_of(place.rank, place.ranks, all);
    if (own == all || own.empty()) return;
    before_ = all;
    keep_threads_to(threads_, own);
}

Pinned::~Pinned()
{
    keep_threads_to(threads_, before_);
}

}  // namespace roof::onednn
