// libgomp reuses its threads in parallel regions of the same size, so an affinity set in one region remains in the
// next.
#include "workloads/onednn/pinned_threads.hpp"

#include "ert/base/text.hpp"
#include "workloads/parallel/cpus.hpp"

#include <omp.h>

namespace roof::onednn {

PinnedThreads::PinnedThreads(int threads) : allowed_(parallel::allowed_cpus())
{
    if (threads == 0 || allowed_.size() < static_cast<std::size_t>(threads)) return;
    const std::vector<int> order = parallel::cores_first(allowed_, parallel::core_of);
    processors_.assign(order.begin(), order.begin() + threads);
#pragma omp parallel num_threads(threads)
    parallel::keep_to({processors_[static_cast<std::size_t>(omp_get_thread_num())]});
}

PinnedThreads::~PinnedThreads()
{
    if (!hold()) return;
#pragma omp parallel num_threads(static_cast <int>(processors_.size()))
    parallel::keep_to(allowed_);
}

std::string PinnedThreads::describe() const
{
    if (!hold()) return "threads not pinned";
    std::vector<std::string> numbers;
    for (const int processor : processors_) numbers.push_back(std::to_string(processor));
    return "threads on processors " + join(numbers, ", ");
}

PinnedThreads::UnpinnedScope::UnpinnedScope(const PinnedThreads& threads) : threads_(threads)
{
    if (threads_.hold()) parallel::keep_to(threads_.allowed_);
}

PinnedThreads::UnpinnedScope::~UnpinnedScope()
{
    if (threads_.hold()) parallel::keep_to({threads_.processors_.front()});
}

}  // namespace roof::onednn
