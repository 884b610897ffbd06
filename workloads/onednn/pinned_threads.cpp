// libgomp reuses its threads in parallel regions of one size, so an affinity that one sets remains in the next.
#include "workloads/onednn/pinned_threads.hpp"

#include "ert/base/text.hpp"

#include <omp.h>

namespace roof::onednn {

PinnedThreads::PinnedThreads(int threads) : allowed_(processors_of_thread())
{
    if (threads == 0 || allowed_.size() < static_cast<std::size_t>(threads)) return;
    threads_ = threads;
    const std::vector<int> order = parallel::cores_first(allowed_, parallel::core_of);
    processors_.assign(order.begin(), order.begin() + threads);
#pragma omp parallel num_threads(threads)
    keep_thread_to({processors_[static_cast<std::size_t>(omp_get_thread_num())]});
}

PinnedThreads::PinnedThreads(const parallel::Place& place, int threads) : allowed_(processors_of_thread())
{
    if (place.launcher != parallel::Launcher::roof) return;  // MPI's launcher places its ranks
    const std::vector<int> own = place.rank > 0 ? allowed_ : parallel::cpus_of(place.rank, place.ranks, allowed_);
    if (own == allowed_ || own.empty()) return;
    threads_ = threads;
    keep_threads_to(own);
}

PinnedThreads::~PinnedThreads()
{
    if (threads_ > 0) keep_threads_to(allowed_);
}

void PinnedThreads::keep_threads_to(const std::vector<int>& cpus) const
{
#pragma omp parallel num_threads(threads_)
    keep_thread_to(cpus);
}

std::string PinnedThreads::describe() const
{
    if (!hold()) return "threads not pinned";
    std::vector<std::string> numbers;
    for (const int processor : processors_) numbers.push_back(std::to_string(processor));
    return "threads on processors " + join(numbers, ", ");
}

}  // namespace roof::onednn
