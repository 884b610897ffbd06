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

Ranks::Ranks(Network& network, parallel::World world, const ExchangeOptions& options)
    : world_(std::move(world)),
      network_(network),
      exchange_(world_.communicator, parallel::pack(network.gradient_sizes(), options.bucket_bytes), options.mode,
                clock_)
{
    network_.place_gradients([this](std::size_t parameter) { return exchange_.gradient(parameter); });
}

void Ranks::begin()
{
    if (world_.followers != nullptr) world_.followers->launch();
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
    exchange_.communicator().sum({&loss, 1});
    return loss / count();
}

std::string Ranks::describe() const
{
    return std::to_string(count()) + " ranks by " + exchange_.communicator().transport + ", " +
           std::to_string(exchange_.packing().buckets.size()) + " buckets";
}

std::vector<std::string> Ranks::remarks() const
{
    std::vector<std::string> all;
    if (world_.place.ranks_here > static_cast<int>(std::thread::hardware_concurrency()))
        all.emplace_back("more ranks than processors: they take turns, and this time is not one of ranks side by side");
    if (std::string machines = parallel::remark_on_machines(world_.place); !machines.empty())
        all.push_back(std::move(machines));
    return all;
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
